import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { verifyClaims } from '../../../shared/goals/verify-claims.ts'
import { checkSynthesis } from '../../../shared/research/claims/check-synthesis.ts'
import type { Json } from '../../../shared/text/json.ts'
import { factsOf, judged } from '../gates/judged.ts'

/** The gates, the verifier and the research chain read the same text against the same evidence: they judge alike. */
const BODY =
  'Drone Zero flew 12 missions in 2024. It is not certified for night flights. Its range is 250 km² at most, the maker says.'
const SOURCE = { id: '1', text: BODY }
const EVIDENCE = [{ entity_id: 'acme.ops.air.fleet.drone.zero', label: 'Drone Zero', text: BODY }]
async function passes(type: string, value: Json): Promise<boolean> {
  const check = { type, port: 'said', evidence: 'sources' }
  const { passed } = await judged(check, factsOf({ said: value }, { inputs: { sources: [SOURCE] } }))
  return passed
}

const MARKS = [
  ['"', '"'],
  ["'", "'"],
  ['“', '”'],
  ['‘', '’'],
  ['„', '“'],
  ['«', '»'],
  ['‹', '›'],
  ['「', '」'],
  ['『', '』'],
  ['＂', '＂'],
  ['&quot;', '&quot;'],
  ['&ldquo;', '&rdquo;'],
  ['`', '`'],
] as const
const QUOTES = [
  ['flew 12 missions in 2024', true],
  ['not certified for night flights', true],
  ['is certified for night flights', false],
  ['flew 13 missions in 2024', false],
  ['Its range is 250 km² at most', true],
] as const

const gateFound = (quote: string) => passes('quote_verbatim', [quote])

function chainFound(quote: string): boolean {
  const [finding] = checkSynthesis('t', `The report says ${quote} [1].`, EVIDENCE)
  return finding?.bad_quotes.length === 0
}

function verifierFound(quote: string): boolean {
  const texts = [{ text: `[CITATION:1] ${quote}\n[FINDING] It flew.`, source: 'b' }]
  const { challenges } = verifyClaims({ texts, artifacts: [], sources: [SOURCE] })
  return challenges.every(({ type, outcome }) => type !== 'reference' || outcome !== 'refuted')
}

describe('a quotation', () => {
  test.each(MARKS)('in %s %s is found, or not, alike by the gate, the chain and the verifier', async (open, close) => {
    for (const [quote, found] of QUOTES) {
      const marked = `${open}${quote}${close}`
      expect([marked, await gateFound(marked)]).toEqual([marked, found])
      expect([marked, chainFound(marked)]).toEqual([marked, found])
      expect([marked, verifierFound(marked)]).toEqual([marked, found])
    }
  })

  test('behind > of Markdown is found; a > before a number is a sign', async () => {
    expect(await gateFound('> not certified for\n> night flights')).toBe(true)
    expect(await gateFound('> 12 missions in 2024')).toBe(false)
    expect(checkSynthesis('t', 'Drone Zero flew > 12 missions [1].', EVIDENCE)[0]?.status).toBe('unsupported')
  })
})

describe('a citation', () => {
  const coverage = (answer: string) => passes('citation_coverage', answer)
  const exists = (answer: string) => passes('citation_exists', answer)
  const cites = (answer: string) =>
    checkSynthesis('t', answer, EVIDENCE).every(
      ({ places, unknown_refs }) => places.length > 0 && unknown_refs.length === 0,
    )

  test('inside a quotation is that of whom is quoted: it covers nothing, and names nothing of ours', async () => {
    const inside = 'The maker says “it flew [1] far away” every year.'
    expect([await coverage(inside), await exists(inside), cites(inside)]).toEqual([false, false, false])
    const foreign = 'The maker says “it flew [9] far away” every year [1].'
    expect([await coverage(foreign), await exists(foreign), cites(foreign)]).toEqual([true, true, true])
  })

  test('covers the whole sentence around a quotation with a full stop in it', async () => {
    const answer = 'It says “Drone Zero flew 12 missions in 2024. It is not certified” there [1].'
    expect([await coverage(answer), cites(answer)]).toEqual([true, true])
  })

  test('is read alike in any sentences', async () => {
    const sentence = fc
      .tuple(
        fc.constantFrom('Drone Zero flew far', 'It was built here', 'The maker says “it flies. It lands”'),
        fc.constantFrom('', ' [1]', ' [2]', ' [1, 2]', ' “see [1] there”'),
        fc.constantFrom('.', '!', '?'),
      )
      .map(([said, cited, end]) => `${said}${cited}${end}`)
    const law = fc.asyncProperty(fc.array(sentence, { minLength: 1, maxLength: 5 }), async (sentences) => {
      const text = sentences.join(' ')
      const findings = checkSynthesis('t', text, EVIDENCE)
      const isCovered = findings.every(({ places }) => places.length > 0)
      expect([text, await coverage(text)]).toEqual([text, isCovered])
      if (await exists(text)) expect(findings.flatMap(({ unknown_refs }) => unknown_refs)).toEqual([])
    })
    await fc.assert(law, { numRuns: 200 })
  })
})

test('a number is read alike by the gate and the chain: value, percent, sign; a power of a unit is none', async () => {
  const inEvidence = (answer: string) => passes('numbers_in_evidence', answer)
  for (const [said, found] of [
    ['It flew 12 missions', true],
    ['It flew 12.0 missions', true],
    ['It flew 12% missions', false],
    ['It flew -12 missions', false],
    ['It flew 1,2 missions', false],
    ['It covers 250 km²', true],
    ['It covers m² of 250', true],
  ] as const) {
    expect([said, await inEvidence(said)]).toEqual([said, found])
    const [finding] = checkSynthesis('t', `${said} beyond doubt [1].`, EVIDENCE)
    expect([said, finding?.bad_numbers.length === 0]).toEqual([said, found])
  }
})
