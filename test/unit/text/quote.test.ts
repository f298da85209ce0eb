import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checkQuote, indexQuoteSources } from '../../../shared/text/verbatim-quotes.ts'
import { expectLinear } from '../gates/linear.ts'

const BRIDGE =
  'Zürich — the “old bridge” is not safe for heavy lorries. In 2019, 1.5 percent of 15,000 bolts failed;\n  it doesn’t carry non-fatal loads. Costs fell by $5 million (–3%).'
const COUNCIL = 'The council rebuilt it in 1931 with new steel from Łódź. Nobody voted against the plan.'
const index = indexQuoteSources([
  { id: 'bridge', text: BRIDGE },
  { id: 'council', text: COUNCIL },
])
const verdict = (quote: string, source?: string) => checkQuote(index, quote, source)?.verdict

/** The bytes of a stored body a finding points at. */
function bytes(body: string, { start, end }: { readonly start: number; readonly end: number }): string {
  return Buffer.from(body).subarray(start, end).toString()
}

describe('checkQuote()', () => {
  test.each([
    ['as it stands', 'is not safe for heavy lorries'],
    ['straight quote marks and hyphens', 'the "old bridge" is not safe'],
    ['another dash', 'Zürich – the “old bridge” is'],
    ['blanks of another kind', "bolts failed; it\u00a0doesn't   carry"],
    ['the marks of the quotation itself', '"In 2019, 1.5 percent of 15,000 bolts"'],
    ['a sign of another form', 'by $5 million (-3%)'],
    ['without its last full stop', 'In 2019, 1.5 percent of 15,000'],
    ['a decomposed letter', 'Zu\u0308rich — the “old bridge”'],
    ['characters of no width', 'is not\u200b safe for\u2060 heavy'],
    ['soft hyphens', 'is not safe for hea\u00advy lor\u00adries'],
    ['a word that a line cuts', 'is not safe for hea-\nvy lor\u00ad\n  ries'],
    ['a compound that a line cuts', "it doesn't carry non-\nfatal loads"],
    ['another first letter', 'Is not safe for heavy lorries'],
    ['another last mark', 'is not safe for heavy,'],
  ])('finds it %s', (_, quote) => {
    expect(verdict(quote, 'bridge')).toBe('found')
  })

  test.each([
    ['a negation left out', 'the “old bridge” is safe for heavy'],
    ['a negation put in', 'Nobody voted not against the plan.'],
    ['a cut negation', 'bolts failed; it does carry'],
    ['the rest of a negated compound', 'fatal loads. Costs fell by'],
    ['another number', 'In 2018, 1.5 percent of 15,000'],
    ['the end of a number', '5 percent of 15,000 bolts'],
    ['the start of a number', 'In 2019, 1.5 percent of 15'],
    ['another decimal', 'In 2019, 15 percent of 15,000'],
    ['a number without its currency', '5 million (–3%).'],
    ['a number without its sign', 'by $5 million (3%).'],
    ['a number without its percent', 'fell by $5 million (–3'],
    ['the end of a word', 'ridge” is not safe for'],
    ['another case', 'The Council rebuilt it in 1931'],
    ['an accent left out', 'new steel from Lodz.'],
    ['a letter of another script', 'is nоt safe for heavy'],
    ['reordering marks', '\u202eis not safe for heavy'],
    ['words in another order', 'is safe not for heavy lorries'],
    ['an elision', 'the “old bridge” … heavy lorries'],
    ['an elision nobody sees', 'the “old bridge” heavy lorries'],
  ])('does not find it with %s', (_, quote) => {
    expect(['not_found', 'frankenquote']).toContain(verdict(quote))
  })

  test('names the source a misattributed quote stands in', () => {
    expect(checkQuote(index, 'rebuilt it in 1931 with', 'bridge')).toEqual({
      verdict: 'misattributed',
      source_id: 'council',
      start: 12,
      end: 35,
    })
    expect(verdict('rebuilt it in 1931 with', 'nobody')).toBe('misattributed')
    expect(verdict('rebuilt it in 1931 with')).toBe('found')
  })

  test.each([
    ['The drone is not safe for children under ten.', 'safe for children under ten'],
    ['It is not true that the drone is safe.', 'the drone is safe'],
    ['It is not true that the drone is safe.', 'The drone is safe.'],
    ['It isn’t true that the drone is safe.', 'the drone is safe'],
    ['It was never the case that the drone is safe.', 'the drone is safe'],
    ['The maker denied that “the drone is safe”.', 'the drone is safe'],
    ['There was no evidence that\n the drone is safe.', 'the drone is safe'],
    ['Nobody said that it isn’t a drone for children.', 'a drone for children'],
    ['The council failed to repair the bridge in time.', 'repair the bridge in time'],
    ['The council has refused to repair the bridge.', 'repair the bridge'],
    ['He was unable to repair the bridge.', 'repair the bridge'],
    ['If the river rises, the cellar is cleared.', 'the river rises'],
    ['If the river rises, the cellar is cleared.', 'the cellar is cleared'],
    ['Unless alerts are added, the disk may fill.', 'alerts are added'],
    ['The cellar is cleared if the river rises.', 'The cellar is cleared'],
    ['The lease ends unless it is renewed.', 'it is renewed'],
    ['The mayor denied that the van was sold.', 'the van was sold'],
    ['They asked whether the van was sold.', 'the van was sold'],
  ])('of %j, %j is told as cut', (text, quote) => {
    expect(checkQuote(indexQuoteSources([{ id: 'a', text }]), quote, 'a')?.verdict).toBe('cut')
  })

  test.each([
    ['It is not red. The drone is safe.', 'The drone is safe'],
    ['It is not true that the drone is safe. Later: the drone is safe.', 'the drone is safe'],
    ['The drone is not safe for children.', 'not safe for children'],
    ['It is noted that the drone is safe.', 'the drone is safe'],
    ['If the river rises, the cellar is cleared.', 'If the river rises, the cellar is cleared'],
    ['The bridge failed. To repair it took a year.', 'To repair it took a year'],
    ['If it rains, call us. The cellar is cleared.', 'The cellar is cleared'],
    ['The cellar is cleared. If the river rises, call us.', 'The cellar is cleared'],
    ['The council failed to act and repaired the bridge in 1990.', 'repaired the bridge in 1990'],
  ])('of %j, %j is not', (text, quote) => {
    expect(checkQuote(indexQuoteSources([{ id: 'a', text }]), quote, 'a')?.verdict).toBe('found')
  })

  test('offsets are those of the stored body, whatever it is set with', () => {
    const set = 'The o\ufb03ce was re-\nbuilt in Zu\u0308rich\u200b by lor\u00adries.'
    const finding = checkQuote(
      indexQuoteSources([{ id: 'a', text: set }]),
      'office was rebuilt in Zürich by lorries',
      'a',
    )
    expect(finding?.verdict === 'found' && bytes(set, finding)).toBe(set.slice(4, -1))
  })

  test('names the parts of a spliced quote', () => {
    const finding = checkQuote(index, 'is not safe for heavy lorries with new steel from Łódź', 'bridge')
    expect(finding).toMatchObject({ verdict: 'frankenquote' })
    const parts = finding?.verdict === 'frankenquote' ? finding.parts : []
    expect(parts.map((part) => bytes(part.source_id === 'bridge' ? BRIDGE : COUNCIL, part))).toEqual([
      'is not safe for heavy lorries',
      'with new steel from Łódź',
    ])
  })

  test.each([['1931 with'], ['"steel"'], [''], ['   '], ['\u200b']])('%j is too short to count', (quote) => {
    expect(checkQuote(index, quote)).toBeUndefined()
  })

  test('offsets are bytes of the stored body, before anything was made alike', () => {
    const finding = checkQuote(index, "bolts failed; it doesn't carry", 'bridge')
    expect(finding?.verdict === 'found' && bytes(BRIDGE, finding)).toBe('bolts failed;\n  it doesn’t carry')
  })
})

const word = fc.constantFrom(
  'alpha',
  'not',
  'beta',
  '12',
  '1.5',
  'gamma’s',
  'naïve',
  '北京',
  '“delta”',
  '-3',
  '20%',
  '$5',
)
const body = fc.array(word, { minLength: 12, maxLength: 40 }).map((words) => words.join(' '))

describe('any body', () => {
  test('every run of whole words is found, at bytes that hold exactly it', () => {
    fc.assert(
      fc.property(body, fc.nat(), fc.integer({ min: 6, max: 12 }), (text, at, length) => {
        const words = text.split(' ')
        const from = at % (words.length - 5)
        const quote = words.slice(from, from + length).join(' \n')
        const finding = checkQuote(indexQuoteSources([{ id: 'a', text }]), quote, 'a')
        if (finding === undefined) return
        // Right behind `not` it is cut, where it does not stand elsewhere.
        expect(words[from - 1] === 'not' ? ['found', 'cut'] : ['found']).toContain(finding.verdict)
        if (finding.verdict === 'found' || finding.verdict === 'cut')
          expect(bytes(text, finding).replace(/\s+/g, '')).toContain(strip(quote))
      }),
      { numRuns: 200 },
    )
  })

  test('a word changed to one the body does not have is never found', () => {
    fc.assert(
      fc.property(body, fc.nat(), fc.constantFrom('zeta', '13', '1.6', 'never'), (text, at, changed) => {
        const words = text.split(' ')
        const quote = words.with(at % words.length, changed).join(' ')
        expect(checkQuote(indexQuoteSources([{ id: 'a', text }]), quote)?.verdict).toBe('not_found')
      }),
      { numRuns: 200 },
    )
  })

  test('what is found is a run of whole words of the body, whatever the quote', () => {
    const bare = fc.constantFrom('no', 'not', 'safe', '5', '15', '1', 'bridge', 'unsafe')
    const text = fc.array(bare, { minLength: 1, maxLength: 30 })
    fc.assert(
      fc.property(text, fc.array(bare, { minLength: 3, maxLength: 8 }), (words, quoted) => {
        const quote = quoted.join(' ')
        const verdict = checkQuote(indexQuoteSources([{ id: 'a', text: words.join(' ') }]), quote)?.verdict
        expect(verdict === 'found' || verdict === 'cut').toBe(
          quote.length >= 12 && ` ${words.join(' ')} `.includes(` ${quote} `),
        )
      }),
      { numRuns: 500 },
    )
  })

  test('two long pieces of two bodies are a frankenquote, or found where they happen to meet', () => {
    const two = fc.tuple(fc.integer({ min: 4, max: 9 }), fc.integer({ min: 4, max: 9 }))
    fc.assert(
      fc.property(two, ([left, right]) => {
        const a = Array.from({ length: 12 }, (_, i) => `left${i}`)
        const b = Array.from({ length: 12 }, (_, i) => `right${i}`)
        const both = indexQuoteSources([
          { id: 'a', text: a.join(' ') },
          { id: 'b', text: b.join(' ') },
        ])
        const quote = [...a.slice(0, left), ...b.slice(-right)].join(' ')
        expect(checkQuote(both, quote, 'a')?.verdict).toBe('frankenquote')
      }),
      { numRuns: 20 },
    )
  })
})

describe('how a quotation is set', () => {
  const SENTENCE = 'The office of Zürich rebuilt 12 well-known bridges in 1931 and never closed the first one.'
  const one = indexQuoteSources([{ id: 'a', text: `Before it. ${SENTENCE} After it.` }])
  const SETTINGS: readonly ((quote: string, at: number) => string)[] = [
    (quote) => quote.normalize('NFD'),
    (quote) => quote.normalize('NFC'),
    (quote) => quote.replace('ffi', '\ufb03').replace('fi', '\ufb01'),
    (quote, at) => between(quote, at, '\u00ad'),
    (quote, at) => between(quote, at, '\u200b'),
    (quote, at) => between(quote, at, '\u00ad\n'),
    (quote, at) => between(quote, at, '-\n '),
    (quote) => quote.replace('well-known', 'well-\nknown'),
    (quote) => quote.replace(/ /g, '\u00a0 '),
    (quote) => `${quote.slice(0, 1).toLowerCase()}${quote.slice(1)}`,
    (quote) => quote.replace(/\.$/, ','),
    (quote) => quote.replace(/\.$/, ''),
  ]
  const LIES: readonly ((quote: string) => string)[] = [
    (quote) => quote.replace('12', '13'),
    (quote) => quote.replace('1931', '1937'),
    (quote) => quote.replace('never ', ''),
    (quote) => quote.replace('rebuilt', 'not rebuilt'),
    (quote) => quote.replace(/Z(?:ü|u\u0308)rich/, 'Basel'),
    (quote) => quote.replace('well-known', 'known'),
  ]
  const settings = fc.array(fc.tuple(fc.constantFrom(...SETTINGS), fc.nat()), { maxLength: 4 })

  test('any of it keeps a true quotation found', () => {
    fc.assert(
      fc.property(settings, (chosen) => {
        const quote = chosen.reduce((text, [set, at]) => set(text, at), SENTENCE)
        // Of one word a line cuts twice, and of a compound beside a cut word, nobody knows which hyphens it has.
        if ((quote.match(/-\s*\n/g)?.length ?? 0) > 1) return
        expect(checkQuote(one, quote, 'a')?.verdict, JSON.stringify(quote)).toBe('found')
      }),
      { numRuns: 300 },
    )
  })

  test('and none of it makes a false one found', () => {
    fc.assert(
      fc.property(settings, fc.constantFrom(...LIES), (chosen, lie) => {
        const quote = chosen.reduce((text, [set, at]) => set(text, at), lie(SENTENCE))
        expect(checkQuote(one, quote, 'a')?.verdict, JSON.stringify(quote)).not.toBe('found')
      }),
      { numRuns: 300 },
    )
  })
})

/** Something inside of one of the words of plain letters. */
function between(quote: string, at: number, what: string): string {
  const places = [...quote.matchAll(/(?<=[a-z]{2})(?=[a-z]{2})/g)].map(({ index }) => index)
  const place = places[at % Math.max(1, places.length)] ?? 0
  return `${quote.slice(0, place)}${what}${quote.slice(place)}`
}

test('indexing and searching are linear, also where every word nearly matches', async () => {
  await expectLinear(async (size) => {
    const repeated = indexQuoteSources([{ id: 'a', text: 'aa '.repeat(size) }])
    return checkQuote(repeated, `bb ${'aa '.repeat(3_000)}`) ?? checkQuote(repeated, `${'aa '.repeat(3_000)} bb`)
  }, 60_000)
  await expectLinear(async (size) => indexQuoteSources([{ id: 'a', text: 'a-'.repeat(size) }]), 60_000)
  await expectLinear(async (size) => indexQuoteSources([{ id: 'a', text: 'a- \n'.repeat(size) }]), 60_000)
})

function strip(quote: string): string {
  return quote.replace(/^[“]|[”]$/g, '').replace(/\s+/g, '')
}
