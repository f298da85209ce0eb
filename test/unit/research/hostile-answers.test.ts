import { describe, expect, test } from 'vitest'
import { checkSynthesis } from '../../../shared/research/claims/check-synthesis.ts'
import { repairSynthesis } from '../../../shared/research/claims/repair-synthesis.ts'
import { HOSTILE } from './hostile-answers.ts'

const evidenceOf = (label: string, text: string, facts: Readonly<Record<string, string | readonly string[]>> = {}) => ({
  entity_id: `acme.test.set.answers.item.${label.toLowerCase().replace(/[^a-z0-9]+/g, '-')}x`,
  tier: '1',
  source: 'bm25_index',
  label,
  text,
  facts: Object.entries(facts).flatMap(([predicate, objects]) =>
    [objects].flat().map((object) => ({ predicate, object })),
  ),
})

const ZERO = evidenceOf(
  'Drone Zero',
  'Drone Zero flew 12 missions in 2024. It is not certified for night flights. The range is 250 km. Nobody was hurt. "The pilot lied", said Ann Lee. It is good, bad and ugly.',
)
const ONE = evidenceOf('Drone One', 'Drone One flew 7 missions in 2023. Drone One crashed in Oslo.')
const NORWAY = evidenceOf('Norway', 'Norway is a country in Northern Europe. It borders Sweden.', {
  'geo.country.capital': 'Oslo',
  'geo.country.population': '5500000',
  'geo.country.area_km2': '323802',
  'geo.country.borders': ['Sweden', 'Finland'],
  'geo.country.not_member_of': 'EU',
  'geo.country.former_capital': 'Bergen',
  'geo.country.successor_of': 'Denmark-Norway',
  'geo.country.killed_by': 'Olaf',
  'geo.country.max_depth_m': '241',
})
const PERU = evidenceOf('Peru', 'Peru grows potatoes. Peru exported 10 tonnes.', {
  'geo.country.capital': 'Lima',
  'geo.country.area_km2': '1285216',
})
const DRONES = [ZERO, ONE]
const COUNTRIES = [NORWAY, PERU, evidenceOf('Tower', 'It was built in 1990. He never paid.')]

const statuses = (answer: string, evidence: Parameters<typeof checkSynthesis>[2] = DRONES) =>
  checkSynthesis('topic', answer, evidence).map(({ status }) => status)
const isKept = (answer: string, evidence: Parameters<typeof checkSynthesis>[2] = DRONES) => {
  const all = statuses(answer, evidence)
  return all.length > 0 && all.every((status) => status !== 'unsupported')
}

describe('of 703 wrong and 313 right sentences over the bodies of somebody who wanted to get through', () => {
  const told = HOSTILE.flatMap(({ label, text, right, wrong }) => {
    const evidence = [evidenceOf(label, text)]
    return [
      ...right.map((sentence) => ({ sentence, isRight: true, kept: isKept(`${sentence} [1].`, evidence) })),
      ...wrong.map((sentence) => ({ sentence, isRight: false, kept: isKept(`${sentence} [1].`, evidence) })),
    ]
  })

  test('no wrong one leaves', () => {
    const wrong = told.filter(({ isRight }) => !isRight)
    expect(wrong).toHaveLength(703)
    expect(wrong.filter(({ kept }) => kept).map(({ sentence }) => sentence)).toEqual([])
  })

  test('at least 98 in 100 right ones stay; those that are lost are these', () => {
    const right = told.filter(({ isRight }) => isRight)
    expect(right).toHaveLength(313)
    const lost = right.filter(({ kept }) => !kept).map(({ sentence }) => sentence)
    expect(lost.length).toBeLessThanOrEqual(right.length * 0.02)
    expect(lost).toEqual([
      'The drug reduces mortality from 12% to 8%',
      'Zephyr no longer freezes',
      'Kestrel Works employs about 840 people',
      'The highest point is Mount Teller',
      'Osric offered Harald peace',
      'The chronicle was written by Tilo',
    ])
  })
})

describe('what stands behind the last citation is part of the claim', () => {
  test.each([
    'Drone Zero flew 12 missions in 2024 [1], which is false.',
    'Drone Zero flew 12 missions in 2024 [1], and it crashed in Oslo.',
    'Drone Zero flew 12 missions in 2024 [1] - a lie.',
    'Drone Zero flew 12 missions in 2024 [1] according to nobody.',
    'Is it not certified for night flights [1]?',
    'It is not certified for night flights [1]?',
  ])('%s', (answer) => expect(isKept(answer)).toBe(false))

  test.each([
    'By area km2, greatest first: Peru 1285216 [2], Norway 323802 [1], so Norway is in Asia.',
    'Found there: Norway [1], Peru [2], both in Asia.',
    'Norway [1], Peru [2] and Chile border Sweden.',
  ])('%s', (answer) => expect(isKept(answer, COUNTRIES)).toBe(false))

  test.each([
    'By area km2, greatest first: Peru 1285216 [2], Norway 323802 [1].',
    'Found there: Norway [1], Peru [2].',
    'Peru grows potatoes [2] and Norway borders Sweden [1].',
  ])('a list, a ranking and two facts stay: %s', (answer) => expect(isKept(answer, COUNTRIES)).toBe(true))
})

describe('every line that says something is a claim', () => {
  const GOOD = 'Drone Zero flew 12 missions in 2024 [1].'
  const BAD = 'Drone Zero never flew 12 missions'
  const hidden: readonly (readonly [what: string, text: string])[] = [
    ['a heading', `# ${BAD}\n${GOOD}`],
    ['a heading with a citation', `###### ${BAD} [1]\n${GOOD}`],
    ['an underlined heading', `${BAD}\n===\n${GOOD}`],
    ['what opens a fence', `\`\`\`${BAD}\nx\n\`\`\`\n${GOOD}`],
    ['a fence', `~~~\n${BAD}\n~~~\n${GOOD}`],
    ['a footnote', `${GOOD}\n[^1]: ${BAD}.`],
    ['a footnote of nothing', `[^9]: ${BAD} [1].\n${GOOD}`],
    ['a link definition', `${GOOD}\n[1]: ${BAD}.`],
    ['a comment', `${GOOD}\n<!-- ${BAD} -->`],
    ['a table', `| --- | ${BAD}\n${GOOD}`],
    ['a picture', `![${BAD}](x.png)\n${GOOD}`],
    ['our own words', `Degraded: ${BAD}.\n${GOOD}`],
    ['words of a note', `Note: ${BAD}.\n${GOOD}`],
  ]
  test.each(hidden)('%s', (_, answer) => {
    expect(repairSynthesis('topic', answer, DRONES).synthesis).not.toContain('never')
    const kept = repairSynthesis('topic', answer, DRONES, { keep_unsupported: true })
    expect(kept.synthesis).toMatch(/\(unsupported\) .*never flew/)
    expect(kept.degraded_reason).toBeDefined()
    expect(repairSynthesis('topic', answer, DRONES).sentences.map(({ status }) => status)).toEqual(['quoted'])
  })

  test.each(['❌', '👎', 'False.', 'Not so!'])('what follows alone: %s', (after) => {
    for (const glue of [' ', '\n']) {
      expect(repairSynthesis('topic', `${GOOD}${glue}${after}`, DRONES).synthesis).not.toContain(after)
    }
  })

  test('rules, ticks and blank fences say nothing', () => {
    expect(statuses(`---\n\n***\n${GOOD} ✓\n\n====\n`)).toEqual(['quoted'])
  })
})

describe('nothing borrows a subject from other evidence', () => {
  test.each([
    'Drone Zero [1] crashed in Oslo [2].',
    'Drone One flew 7 missions [2] and is not certified for night flights [1].',
    'Drone Zero flew 12 missions in 2024 [1] and crashed in Oslo [2].',
    'Drone Zero [1], Drone One flew 7 missions in 2023 [2].',
    'Crashed in Oslo: Drone Zero [1], Drone One [2].',
  ])('in one sentence: %s', (answer) => expect(isKept(answer)).toBe(false))

  test.each([
    'Norway [1] grows potatoes [2].',
    'Norway [1] exported 10 tonnes [2].',
    'It borders Sweden [1], and it was built in 1990 [3].',
    'Norway was built in 1990 [1][3].',
    'Peru grows potatoes [2]. It borders Sweden [1].',
  ])('nor over sentences: %s', (answer) => expect(isKept(answer, COUNTRIES)).toBe(false))

  test('a pronoun, or nothing, stands for what the sentence before it cites or names', () => {
    expect(statuses('Drone One crashed in Oslo [2]. It is not certified for night flights [1].')).toEqual([
      'quoted',
      'unsupported',
    ])
    expect(statuses('Drone One:\n- flew 12 missions in 2024 [1]')).toEqual(['unsupported', 'unsupported'])
    expect(statuses('Drone Zero:\n- flew 12 missions in 2024 [1]')).toEqual(['unsupported', 'quoted'])
    expect(isKept('Drone Zero flew 12 missions [1]. It is not certified for night flights [1].')).toBe(true)
  })
})

describe('facts', () => {
  test.each([
    'Norway killed Olaf [1].',
    'Norway has killed Olaf [1].',
    'Olaf was killed by Norway [1].',
    'Denmark-Norway is the successor of Norway [1].',
    'Capital: Norway, Oslo [1].',
    'Norway is the capital of Oslo [1].',
    'The capital of Norway is Bergen [1].',
    'Norway is a member of the EU [1].',
    'Norway has 5.5 people [1].',
    'The area of Norway is 323802 m2 [1].',
    'The max depth of Norway is 241 km [1].',
    'Norway borders only Sweden [1].',
    'Norway borders Sweden and Russia [1].',
    'Norway: EU [1].',
    'The capital of Norway is Oslo [2].',
  ])('turned round, or of another thing: %s', (answer) => expect(isKept(answer, COUNTRIES)).toBe(false))

  test.each([
    'Norway, capital: Oslo [1].',
    'Capital: Oslo [1].',
    'Oslo [1].',
    'The capital of Norway is Oslo [1].',
    'Oslo is the capital of Norway [1].',
    "Norway's capital is Oslo [1].",
    'Its capital is Oslo [1].',
    'Norway borders Sweden and Finland [1].',
    'Norway borders Finland [1].',
    'Norway has a population of 5.5 million [1].',
    'The population of Norway is 5,500,000 [1].',
    'The area of Norway is 323,802 km² [1].',
    'The max depth of Norway is 241 m [1].',
    'Norway was killed by Olaf [1].',
    'Norway is the successor of Denmark-Norway [1].',
    'Norway is not a member of the EU [1].',
  ])('in a sentence: %s', (answer) => expect(isKept(answer, COUNTRIES)).toBe(true))
})

/** Pairs as people and machines write them. */
const MARKS =
  `" "  ' '  “ ”  ‘ ’  „ “  „ ”  ‚ ‘  ‚ ’  « »  » «  › ‹  ‹ ›  ” ”  ’ ’  「 」  『 』  ＂ ＂  ＇ ＇  ｢ ｣  〝 〞  〝 〟  〈 〉  《 》  ❝ ❞  ❛ ❜  &quot; &quot;  &ldquo; &rdquo;  &lsquo; &rsquo;  &#34; &#34;  &#39; &#39;  &#x22; &#x22;  &#8220; &#8221;  &laquo; &raquo;  &bdquo; &ldquo;  &apos; &apos;  \` \`  \`\` ''  *" "*  **“ ”**  <q> </q>  \\" \\"  ″ ″  ‟ ”`
    .split('  ')
    .map((pair) => pair.split(' ') as [string, string])

describe.each(MARKS)('a quotation in %s %s', (open, close) => {
  const quoting = (quote: string) => [
    `${open}${quote}${close} [1].`,
    `The report says: ${open}${quote}${close} [1].`,
    `The report says ${open}${quote}.${close} [1]`,
  ]

  test('is quoted where it stands there word for word', () => {
    for (const quote of ['flew 12 missions in 2024', 'not certified for night flights', 'Nobody was hurt'])
      for (const answer of quoting(quote)) expect([answer, statuses(answer)]).toEqual([answer, ['quoted']])
  })

  test('is unsupported where a word is another, a negation is cut off, or half a sentence is left', () => {
    for (const quote of [
      'flew twelve missions in 2024',
      'flew 13 missions in 2024',
      'certified for night flights',
      'is certified for night flights',
      'Drone Zero never flew',
      'was hurt',
      'flew 12',
      'The pilot lied',
      'crashed in Oslo',
    ])
      for (const answer of quoting(quote)) expect([answer, isKept(answer)]).toEqual([answer, false])
  })
})

test('quotations: behind > of Markdown, of two sentences, several short ones, with German around them', () => {
  for (const answer of [
    '> It is not certified for night flights. [1]',
    '“Drone Zero flew 12 missions in 2024. It is not certified for night flights.” [1]',
    'It is “good”, “bad” and “ugly” [1].',
    'Der Bericht sagt: „Drone Zero flew 12 missions in 2024“ [1].',
    'As the report notes, "Drone Zero flew 12 missions in 2024" [1].',
  ])
    expect([answer, statuses(answer)]).toEqual([answer, ['quoted']])
  for (const answer of [
    '> It is certified for night flights. [1]',
    '“Drone Zero flew 12 missions in 2024. It is certified” [1]',
    'It is “good” and “ugly” [1].',
    'The drone is “certified” for “night flights” [1].',
    'Drone Zero flew “twelve” missions in 2024 [1].',
    '"Drone Zero flew 12 missions in 2024" is false [1].',
    'The report does not say “Drone Zero flew 12 missions in 2024” [1].',
  ])
    expect([answer, isKept(answer)]).toEqual([answer, false])
})
