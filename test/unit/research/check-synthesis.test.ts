import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checkSynthesis } from '../../../shared/research/claims/check-synthesis.ts'
import { withoutWordsOfSets } from '../../../shared/research/claims/claim-lines.ts'
import { repairSynthesis, synthesisErrors } from '../../../shared/research/claims/repair-synthesis.ts'
import { atMost } from '../../how-much.ts'
import { expectLinear } from '../gates/linear.ts'
import { ATLAS, NORWAY, PERU } from './atlas.ts'

const only = (synthesis: string, evidence: Parameters<typeof checkSynthesis>[2] = ATLAS) => {
  const [finding] = checkSynthesis('topic', synthesis, evidence)
  if (finding === undefined) throw new Error('no claim')
  return finding
}

describe('references', () => {
  test.each([
    ['a number', 'Oslo is its capital [2].', [2]],
    ['several', 'Both have one [2, 3].', [2, 3]],
    ['an entity id', `Oslo is its capital [${NORWAY.entity_id}].`, [2]],
    ['an id in the prose', `The capital of ${PERU.entity_id} is Lima.`, [3]],
    ['after the full stop', 'Oslo is its capital. [2]', [2]],
  ])('%s names its evidence', (_, synthesis, places) => {
    expect(only(synthesis)).toMatchObject({ places, unknown_refs: [] })
  })

  test('an object ref names the evidence it is the body of', () => {
    const ref = `objstore://main/${'a'.repeat(64)}`
    expect(only(`It is in ${ref}.`, [{ ...NORWAY, objectstore_ref: ref }]).places).toEqual([1])
    expect(only(`It is in ${ref}.`).unknown_refs).toEqual([ref])
  })

  test.each([
    ['[0]', '0'],
    ['[4]', '4'],
    ['[acme.ops.geo.atlas.country.xx]', 'acme.ops.geo.atlas.country.xx'],
  ])('%s names none', (citation, ref) => expect(only(`It is so ${citation}.`).unknown_refs).toEqual([ref]))

  test('an id in the prose that is no evidence is unknown; a link or a version of five parts is none', () => {
    expect(only('It is acme.ops.geo.atlas.country.xx [1].').unknown_refs).toEqual(['acme.ops.geo.atlas.country.xx'])
    expect(only('See www.example.org and v1.2.3.4.x [1].').unknown_refs).toEqual([])
  })

  test("a citation inside a quotation is not the answer's", () => {
    const quoting = [{ ...NORWAY, text: 'Norway joined in 1949.[7] It stayed.' }]
    expect(only('“Norway joined in 1949.[7] It stayed.” [1]', quoting)).toMatchObject({
      places: [1],
      unknown_refs: [],
      bad_quotes: [],
    })
  })

  test('a sentence without one is told', () => {
    expect(only('Oslo is its capital.').places).toEqual([])
    expect(synthesisErrors(checkSynthesis('topic', 'Oslo is its capital. So [9].', ATLAS))).toEqual([
      'Sentence 1: it cites no evidence.',
      'Sentence 2: [9] names no evidence.',
    ])
  })

  test.each([
    'No answer found in the graph for: How many lakes has Norway?',
    'Note: no evidence linked to the question says: lakes, has.',
    'Note: put together from quotations and facts by the extractive model; no language model wrote it.',
    'Note: 5 references were taken out: they name no evidence.',
  ])('our own line claims nothing: %s', (line) => {
    expect(checkSynthesis('How many lakes has Norway?', line, ATLAS)).toEqual([])
  })

  test.each([
    'Note: it has 5 lakes.',
    'No answer found in the graph for: How many lakes has Norway? It has 5.',
    'Note: no evidence linked to the question says: it has 5 lakes.',
    'Degraded: it has 5 lakes.',
  ])('a claim in the words of a note is a claim: %s', (line) => {
    const numbers = checkSynthesis('How many lakes has Norway?', line, ATLAS).flatMap(({ bad_numbers }) => bad_numbers)
    expect(numbers).toEqual(['5'])
  })
})

describe('quotations', () => {
  test.each([
    ['in the evidence cited', '“Its parliament is the Storting.” [2]', []],
    ['in one of those cited', 'It says "Peru lies on the Pacific" [2, 3].', []],
    ['of two sentences', '“Its parliament is the Storting. Oil was found in 1969.” [2]', []],
    ['in a fact', '«Norway, capital: Oslo» [2].', []],
    ['too short to count', 'The "Storting" decides [2].', []],
    ['in other evidence', '“Peru lies on the Pacific.” [2]', ['misattributed']],
    ['put together', '“Norway is a country in Northern Europe. Oil was found in 1969.” [2]', ['frankenquote']],
    ['changed by a word', '“Its parliament is not the Storting.” [2]', ['not_found']],
    ['with another number', '“Oil was found in 1968.” [2]', ['not_found']],
  ])('%s', (_, synthesis, verdicts) => {
    expect(only(synthesis).bad_quotes.map(({ verdict }) => verdict)).toEqual(verdicts)
  })
})

describe('how a body is set', () => {
  const set = [
    {
      ...NORWAY,
      text: 'The o\ufb03ce was re-\nbuilt by lor\u00adries in 1931. It is not true that the drone is safe.',
    },
  ]

  test('what is typography does not keep a quotation from being quoted', () => {
    expect(only('“The office was rebuilt by lorries in 1931.” [1]', set).status).toBe('quoted')
  })

  test('a quotation cut right behind a negation is unsupported, and that is told', () => {
    const finding = only('“The drone is safe” [1].', set)
    expect(finding).toMatchObject({ status: 'unsupported', bad_quotes: [{ verdict: 'cut' }] })
    expect(synthesisErrors([finding])[0]).toContain('stands there only right behind what denies it')
  })
})

describe('lists and orders of the extractive model', () => {
  test.each([
    ['2 countries: Norway [2], Peru [3].', 'supported'],
    ['3 countries: Norway [2], Peru [3].', 'unsupported'],
    ['2 countries: Norway [2], Chile [3].', 'unsupported'],
    ['47 countries; the first 2 are: Norway [2], Peru [3].', 'supported'],
    ['47 countries; the first 3 are: Norway [2], Peru [3].', 'unsupported'],
    ['1 countries; the first 2 are: Norway [2], Peru [3].', 'unsupported'],
    ['By area, greatest first: Peru 1285216 [3], Norway 323802 [2].', 'supported'],
    ['By area, smallest first: Norway 323802 [2], Peru 1285216 [3].', 'supported'],
    ['By area, smallest first: Peru 1285216 [3], Norway 323802 [2].', 'unsupported'],
    ['By area, greatest first: Peru 1285217 [3], Norway 323802 [2].', 'unsupported'],
  ])('%s is %s', (synthesis, status) => expect(only(synthesis).status).toBe(status))

  test('of a language model only what it names is left: it read no set', () => {
    const said = withoutWordsOfSets(
      '47 countries; the first 2 are: Norway [2], Peru [3].\nNote: 47 of type country were looked at.',
    )
    expect(said).toBe('47 countries: Norway [2], Peru [3].\n')
    expect(only(said).status).toBe('unsupported')
  })
})

describe('numbers', () => {
  test.each([
    ['of the evidence cited', 'Its area is 323,802 km² [2].', []],
    ['of the name', 'Zone 7 is there [1].', []],
    ['of other evidence', 'Its area is 1285216 [2].', ['1285216']],
    ['of none', 'It has 5 million people [2].', ['5 million']],
    ['without a citation', 'Its area is 323802.', ['323802']],
    ['that are citations', 'Both are countries [2, 3].', []],
    ['with another sign', 'It was -1969 [2].', ['-1969']],
  ])('%s', (_, synthesis, numbers) => {
    const zone = { entity_id: 'acme.ops.geo.atlas.zone.7', label: 'Zone 7', text: 'A zone.' }
    const evidence = synthesis.startsWith('Zone') ? [zone] : ATLAS
    expect(only(synthesis, evidence).bad_numbers).toEqual(numbers)
  })
})

describe('repairSynthesis()', () => {
  const repair = (synthesis: string) => repairSynthesis('topic', synthesis, ATLAS)

  test('leaves an answer that holds as it was written', () => {
    const answer = '- Oslo is its capital [2].\n- Lima is the capital of Peru [3].'
    const { synthesis, degraded_reason } = repair(answer)
    expect([synthesis, degraded_reason]).toEqual([answer, undefined])
  })

  test('takes unknown references out, with a note', () => {
    expect(repair('Oslo is its capital [2, 9]. It is acme.ops.geo.atlas.country.xx [8].').synthesis).toBe(
      [
        'Oslo is its capital [2].',
        'Note: 3 references were taken out: they name no evidence.',
        'Note: 1 sentences were taken out: the evidence they cite does not say them.',
      ].join('\n'),
    )
  })

  test('takes sentences out whose quotations or numbers are not there, with a note', () => {
    const repaired = repair('Oslo is its capital [2]. It has 5 million people [2].\n- “Oil was found in 1968.” [2]')
    expect(repaired.synthesis).toBe(
      ['Oslo is its capital [2].', 'Note: 2 sentences were taken out: the evidence they cite does not say them.'].join(
        '\n',
      ),
    )
    expect(repaired.degraded_reason).toMatch(/did not hold/)
  })

  test('shows the first eight items where no reference is left', () => {
    const many = Array.from({ length: 10 }, (_, at) => ({
      ...NORWAY,
      entity_id: `a.b.c.d.e.${at}`,
      snippet_text: `text ${at}`,
    }))
    const { synthesis } = repairSynthesis('topic', 'Oslo is its capital [99].', many)
    expect(synthesis).toContain('Note: the synthesizer quoted none of the evidence; these are its first items.')
    expect(synthesis).toContain('- text 7 [8]')
    expect(synthesis).not.toContain('[9]')
  })

  test('without evidence it is no answer, whatever was written', () => {
    expect(repairSynthesis('the moon', 'It is made of cheese [1].', [])).toMatchObject({
      synthesis: 'No answer found in the graph for: the moon',
      degraded_reason: 'there is no evidence',
    })
  })

  test('what was repaired holds, and needs no second repair', () => {
    const parts = fc.constantFrom(
      'Oslo is its capital ',
      '[2] ',
      '[2].',
      '[9]. ',
      '“Oil was found in 1969.” ',
      '"Oil was found in 1968." ',
      '5 million ',
      '. ',
      '\n',
      '- ',
      `${NORWAY.entity_id} `,
      'a.b.c.d.e.f ',
      'Note: ',
      'He said: “A. B. C” ',
    )
    const law = fc.property(fc.array(parts, { maxLength: 14 }), (some) => {
      const once = repair(some.join('')).synthesis
      for (const finding of checkSynthesis('topic', once, ATLAS)) {
        expect(finding).toMatchObject({ unknown_refs: [], bad_quotes: [], bad_numbers: [] })
      }
      const again = repair(once)
      expect([again.synthesis, again.degraded_reason]).toEqual([once, undefined])
    })
    fc.assert(law, { numRuns: atMost(150, 40) })
  })
})

test.each(['“a. ', '&ldquo;a ', '‘a ', 'not ', '[1] ', 'a.b.c.d.e.', '"x" ', '1.5 ', 'x\n'])(
  'checking takes linear time in %j',
  (part) => expectLinear(async (size) => checkSynthesis('topic', part.repeat(size), ATLAS), 4_000),
)
