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
    ['another case', 'the council rebuilt it in 1931'],
    ['an accent left out', 'new steel from Lodz.'],
    ['a decomposed letter', 'Zu\u0308rich — the “old bridge”'],
    ['a hidden letter', 'is not\u200b safe for heavy'],
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
        expect(finding.verdict).toBe('found')
        if (finding.verdict === 'found') expect(bytes(text, finding).replace(/\s+/g, '')).toContain(strip(quote))
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
        const found = checkQuote(indexQuoteSources([{ id: 'a', text: words.join(' ') }]), quote)?.verdict === 'found'
        expect(found).toBe(quote.length >= 12 && ` ${words.join(' ')} `.includes(` ${quote} `))
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

test('indexing and searching are linear, also where every word nearly matches', async () => {
  await expectLinear(async (size) => {
    const repeated = indexQuoteSources([{ id: 'a', text: 'aa '.repeat(size) }])
    return checkQuote(repeated, `bb ${'aa '.repeat(3_000)}`) ?? checkQuote(repeated, `${'aa '.repeat(3_000)} bb`)
  }, 60_000)
  await expectLinear(async (size) => indexQuoteSources([{ id: 'a', text: 'a-'.repeat(size) }]), 60_000)
})

function strip(quote: string): string {
  return quote.replace(/^[“]|[”]$/g, '').replace(/\s+/g, '')
}
