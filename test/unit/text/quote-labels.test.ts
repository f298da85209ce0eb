import { describe, expect, test } from 'vitest'
import { checkQuote, indexQuoteSources } from '../../../shared/text/verbatim-quotes.ts'
import { firstDaily } from '../../how-much.ts'

/** Two thousand labelled quotes of forty generated bodies, from a fixed seed: what must pass, and what never may. */
const BODIES = 40
const QUOTES_A_BODY = 10
const SOURCES = Array.from({ length: BODIES }, (_, at) => ({ id: `body${at}`, text: bodyOf(at) }))
const INDEX = indexQuoteSources(SOURCES)

type Change = (quote: string, draw: (below: number) => number) => string

/** What copying and typesetting do to a text. */
const NOISE: Readonly<Record<string, Change>> = {
  'as it stands': (quote) => quote,
  'line breaks and double blanks': (quote, draw) =>
    quote.replace(/ /g, () => [' ', '\n', '  ', '\u00a0'][draw(4)] ?? ' '),
  'dashes of another form': (quote, draw) => quote.replace(/—/g, () => ['–', '-', '\u2212'][draw(3)] ?? '-'),
  'quote marks of another form': (quote) => quote.replace(/[“”]/g, '"').replace(/’/g, "'"),
  'all of it': (quote) => quote.replace(/[“”]/g, '"').replace(/’/g, "'").replace(/—/g, '–').replace(/ /g, ' \n'),
}

/** What makes it say something else. */
const LIES: Readonly<Record<string, Change>> = {
  'a negation put in': (quote) => quote.replace(/ (was|were) /, ' $1 not '),
  'a negation left out': (quote) => quote.replace(/ (not|never|no) /, ' '),
  'another number': (quote) => quote.replace(/\d(?=\D*$)/, (digit) => String((Number(digit) + 1) % 10)),
  'a number shifted': (quote) => quote.replace(/(\d)\.(\d)/, '$1$2').replace(/(\d)%/, '$1'),
  'another name': (quote) => quote.replace(/[A-Z][a-z]+(?= (?:bridge|council|harbour))/, 'Elsewhere'),
  'a splice of two bodies': (quote, draw) => {
    const other = SOURCES[draw(BODIES)]?.text.split(' ') ?? []
    return [...quote.split(' ').slice(0, 7), ...other.slice(-9)].join(' ')
  },
  'a part cut out': (quote) => quote.split(' ').toSpliced(4, 2).join(' '),
}

describe('labelled quotes', () => {
  test('98 % and more of what copying changed is found where it stands', () => {
    const seen = labelled(NOISE).map(({ quote, source }) => checkQuote(INDEX, quote, source)?.verdict)
    expect(seen.length).toBeGreaterThan(1_900)
    expect(seen.filter((verdict) => verdict === 'found').length / seen.length).toBeGreaterThanOrEqual(0.98)
  })

  for (const { tags, rows } of firstDaily(4, Object.keys(LIES)))
    test.each(rows)('nothing passes with %s', { tags }, (name) => {
      const some = labelled({ [name]: LIES[name] ?? ((quote) => quote) }).filter(({ quote, true: as }) => quote !== as)
      expect(some.length).toBeGreaterThan(50)
      for (const { quote, source } of some) expect(checkQuote(INDEX, quote, source)?.verdict, quote).not.toBe('found')
    })

  test('nothing passes as the words of another body, and where it stands is told', () => {
    for (const { quote, source } of labelled({ same: (quote) => quote })) {
      const other = SOURCES.find(({ id, text }) => id !== source && !text.includes(quote))
      const finding = checkQuote(INDEX, quote, other?.id)
      expect(finding, quote).toMatchObject({ verdict: 'misattributed', source_id: source })
    }
  })
})

/** Each change of some quotes of every body. */
function labelled(changes: Readonly<Record<string, Change>>) {
  return SOURCES.flatMap(({ id, text }, body) =>
    Object.values(changes).flatMap((change, kind) => {
      const draw = drawing(1 + body * 100 + kind)
      const words = text.split(' ')
      return Array.from({ length: QUOTES_A_BODY }, () => {
        const drawn = draw(words.length - 20)
        // Right behind a negation it is cut.
        const from = /^(?:not|no|never|doesn’t)$/.test(words[drawn - 1] ?? '') ? drawn + 1 : drawn
        const quote = words.slice(from, from + 14 + draw(6)).join(' ')
        return { source: id, quote: change(quote, draw), true: quote }
      })
    }),
  )
}

function bodyOf(at: number): string {
  const draw = drawing(at + 1)
  const one = (words: readonly string[]) => words[draw(words.length)] ?? ''
  const places = ['Bergen', 'Zürich', 'Łódź', 'Oslo', 'Lima', 'Quito', 'Perth', 'Turin']
  const things = ['bridge', 'council', 'harbour']
  const sentence = (n: number) =>
    one([
      `The ${one(places)} ${one(things)} was rebuilt in ${1800 + draw(200)} — at a cost of $${draw(90)}.${draw(9)} million`,
      `In report ${at}.${n} the “${one(places)} ${one(things)}” were called safe by ${draw(99)}% of those asked`,
      `Nobody at the ${one(places)} ${one(things)} was never told that it doesn’t carry ${draw(40)},${100 + draw(900)} lorries`,
      `The inspectors of ${one(places)} did not find ${draw(50)} faults in section ${at}.${n} of it`,
      `There was no “second ${one(things)}” — only ${draw(30)}.${draw(9)} km of road near ${one(places)}, as page ${at * 100 + n} says`,
    ])
  return Array.from({ length: 24 }, (_, n) => `${sentence(n)}.`).join(' ')
}

/** Whole numbers below a bound, from a seed. */
function drawing(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}
