import { describe, expect, test } from 'vitest'
import { type AtlasLine, atlasEntities } from '../../../scripts/atlas/atlas-entities.ts'
import { readSources } from '../../../scripts/atlas/sources.ts'
import { isEdge } from '../../../shared/graph/triple.ts'
import { checkSynthesis, isGrounded } from '../../../shared/research/claims/check-synthesis.ts'
import { MORE_MAY_FIT } from '../../../shared/research/claims/claim-lines.ts'
import type { ShownEvidence } from '../../../shared/research/claims/shown-evidence.ts'
import { extractiveAnswer, extractiveAssess } from '../../../shared/research/extractive/model.ts'
import { readQuestionPath } from '../../../shared/research/extractive/question-path.ts'
import { namesIn } from '../../../shared/research/question/label-mentions.ts'

const ATLAS = new Map(atlasEntities(readSources()).map((line) => [line.entity_id, line]))

/** Entities by their label, as a stage shows them. */
function shown(...labels: readonly string[]): readonly ShownEvidence[] {
  return labels.map((label) => {
    const found = [...ATLAS.values()].find((line) => line.label === label)
    if (found === undefined) throw new Error(`there is no ${label}`)
    return asShown(found)
  })
}

function asShown({ entity_id, label, snippet = '', triples = [] }: AtlasLine): ShownEvidence {
  const facts = triples.map((triple) => {
    const object = String(triple.object)
    if (!isEdge(triple)) return { predicate: triple.predicate, object }
    return { predicate: triple.predicate, object: ATLAS.get(object)?.label ?? object, object_id: object }
  })
  return { entity_id, label, source: 'bm25_index', text: snippet, facts }
}

const IBERIA = shown('Portugal', 'France', 'Spain', 'Andorra', 'Monaco', 'Lisbon', 'Euro', 'Germany')
const ALPS = shown('Germany', 'Italy', 'Switzerland', 'France', 'Austria', 'Liechtenstein', 'Swiss franc', 'Bern')
const NORTH = shown('Norway', 'Russia', 'Sweden', 'Finland', 'Estonia', 'Oslo', 'Europe')

/** Each answer by the things it is about and what is said of them last; asked of evidence with more than it needs. */
const ANSWERED: readonly (readonly [string, readonly ShownEvidence[], readonly string[]])[] = [
  ['What is the capital of the country that borders Portugal?', IBERIA, ['Spain, borders:', 'Spain, capital: Madrid']],
  [
    'What is the capital of the country that borders France and Portugal?',
    IBERIA,
    ['Spain, borders:', 'Spain, capital: Madrid'],
  ],
  ['Which country borders both Portugal and France?', IBERIA, ['Spain, borders:']],
  [
    'Which countries border both Germany and Italy?',
    ALPS,
    ['Switzerland, borders:', 'France, borders:', 'Austria, borders:'],
  ],
  [
    'Which currency is used in the country whose capital is Bern?',
    ALPS,
    ['Switzerland, capital: Bern', 'Switzerland, currency: Swiss franc'],
  ],
  [
    'What is the capital of the country that borders the country whose capital is Oslo?',
    shown('Norway', 'Finland', 'Oslo', 'Helsinki'),
    ['Norway, capital: Oslo', 'Finland, borders:', 'Finland, capital: Helsinki'],
  ],
  [
    'What is the area of the country bordering France and whose capital is Madrid?',
    [...IBERIA, ...shown('Madrid')],
    ['Spain, borders:', 'Spain, capital: Madrid', 'Spain, area km2: 505992'],
  ],
  [
    'What is the area of the country whose capital is Madrid and borders France?',
    [...IBERIA, ...shown('Madrid')],
    ['Spain, capital: Madrid', 'Spain, borders:', 'Spain, area km2: 505992'],
  ],
  ['Which countries border Norway?', NORTH, ['Norway, borders: Finland, Sweden, Russia']],
  ['How many countries border Norway?', NORTH, ['Norway, borders, 3 in all: Finland, Sweden, Russia']],
  ['Which countries are in Europe?', shown('Europe', 'Norway', 'Peru'), ['Norway, region: Europe']],
  ['Which country is Oslo in?', NORTH, ['Oslo, country: Norway']],
  [
    'What languages are spoken in countries whose currency is the Swiss franc?',
    ALPS,
    [
      'Switzerland, currency: Swiss franc',
      'Switzerland, language: French, Swiss German, Italian, Romansh',
      'Liechtenstein, currency: Swiss franc',
      'Liechtenstein, language: German',
    ],
  ],
  [
    'What is the currency of the country where Oslo is?',
    NORTH,
    ['Norway, capital: Oslo', 'Oslo, country: Norway', 'Norway, currency: Norwegian krone'],
  ],
]

describe('a question that describes what it asks about', () => {
  test.each(ANSWERED)('%s', (topic, evidence, lines) => {
    const said = extractiveAnswer(topic, evidence).split('\n')
    const facts = said.filter((line) => !line.startsWith('Note: '))
    expect(facts.map((line, at) => line.slice(0, lines[at]?.length))).toEqual(lines)
    expect(checkSynthesis(topic, said.join('\n'), evidence).filter((one) => !isGrounded(one))).toEqual([])
    expect(extractiveAssess(topic, evidence).sufficient).toBe(true)
  })

  test('of several things that fit it says that more may', () => {
    expect(extractiveAnswer('Which countries border both Germany and Italy?', ALPS)).toContain(MORE_MAY_FIT)
    expect(extractiveAnswer('Which country borders both Portugal and France?', IBERIA)).not.toContain(MORE_MAY_FIT)
  })

  test('where nothing fits, or nothing is said of what fits, it has no answer', () => {
    const asks = (topic: string, evidence: readonly ShownEvidence[]) => extractiveAnswer(topic, evidence).split('\n')
    expect(
      asks('What is the capital of the country that borders Norway and Portugal?', [...NORTH, ...IBERIA])[0],
    ).toMatch(/^No answer/)
    const none = asks('What is the population of the country that borders Portugal?', IBERIA)
    expect(none[1]).toBe('Note: no evidence linked to the question says: population.')
  })

  test('what the named things lead to, and is not there, is what to look for next', () => {
    const topic = 'What is the capital of the country that borders France and Portugal?'
    const { sufficient, refined_queries } = extractiveAssess(topic, shown('Portugal', 'France', 'Lisbon', 'Paris'))
    expect({ sufficient, refined_queries }).toEqual({ sufficient: false, refined_queries: ['Spain capital borders'] })
  })
})

test('what a named thing says of itself is taken before what others say', () => {
  const topic = 'What are the capital, languages, currency, area and borders of Switzerland?'
  const lines = extractiveAnswer(topic, ALPS).split('\n').slice(0, -1)
  expect(lines.map((line) => line.split(':')[0]).toSorted()).toEqual(
    ['area km2', 'borders', 'capital', 'currency', 'language'].map((word) => `Switzerland, ${word}`),
  )
})

test('a sentence cut off in the middle of a name is no piece of an answer', () => {
  const [line] = extractiveAnswer('What is the capital of Guernsey?', shown('Guernsey')).split('\n')
  expect(line).toBe('Guernsey, capital: St. Peter Port [1].')
})

describe('a question for what lies somewhere', () => {
  const evidence = ['Bern', 'Fribourg', 'Zürich', 'Switzerland'].flatMap((label) =>
    shown(label).map((item) => ({ ...item, geo: ATLAS.get(item.entity_id)?.geo })),
  )
  const said = (topic: string) => extractiveAnswer(topic, evidence).split('\n').slice(0, -1)

  test.each([
    ['Which cities are within 40 km of 46.8,7.1?', ['Found there: Fribourg [2], Bern [1].']],
    ['What places are within 90 km of 46.8,7.1?', ['Found there: Fribourg [2], Bern [1], Switzerland [4].']],
    [
      'Which cities are within 20 km of 10,10?',
      ['No answer found in the graph for: Which cities are within 20 km of 10,10?'],
    ],
  ])('%s', (topic, lines) => expect(said(topic)).toEqual(lines))
})

describe('questionPath()', () => {
  const known = { labels: ['France', 'Spain', 'Oslo'], types: ['country', 'city'], relations: ['capital', 'border'] }

  test.each([
    ['What is the capital of Spain?'],
    ['Is France larger than Spain?'],
    ['What are the capital and borders of Spain?'],
    ['What is the capital of Spain, which borders France?'],
    ['Who is the king that nobody knows?'],
    [''],
  ])('%s is of another form', (question) => expect(readQuestionPath(question, known)).toBeUndefined())

  test('reads steps from what is asked inward', () => {
    expect(
      readQuestionPath('Which city is the capital of a country that borders the country whose capital is Oslo?', known),
    ).toEqual({
      asked: ['city', 'capital'],
      askedOf: 'subject',
      steps: [
        { type: 'country', relations: [{ terms: ['border'], names: [] }] },
        { type: 'country', relations: [{ terms: ['capital'], names: ['Oslo'], end: 'subject' }] },
      ],
    })
  })
})

test('a name inside a longer one is not named', () => {
  const labels = ['Guinea', 'Equatorial Guinea', 'Papua New Guinea']
  expect(namesIn('What is the area of Equatorial Guinea?', labels).names).toEqual(['Equatorial Guinea'])
  expect(namesIn('Is Guinea larger than Equatorial Guinea?', labels).names).toEqual(['Equatorial Guinea', 'Guinea'])
})

/** Things of a small graph: label, type, facts as `predicate: object`; an object that is one of the labels is an edge. */
function thingsOf(things: readonly (readonly [label: string, type: string, ...facts: string[]])[]) {
  const ids = new Map(
    things.map(([label, type]) => [label, `acme.x.y.z.${type}.${label.toLowerCase().replaceAll(' ', '-')}`]),
  )
  return things.map(([label, , ...facts]): ShownEvidence => {
    const said = facts.map((fact) => {
      const [predicate = '', object = ''] = fact.split(': ')
      const object_id = ids.get(object)
      return { predicate: `x.${predicate}`, object, ...(object_id === undefined ? {} : { object_id }) }
    })
    return { entity_id: ids.get(label) ?? '', label, source: 'entity_state', facts: said }
  })
}

const PAINTERS = thingsOf([
  ['Ola Rune', 'painter', 'born: 1860'],
  ['Mira Toll', 'painter', 'taught: Ola Rune'],
  ['Ansel Brook', 'painter', 'taught: Mira Toll'],
  ['The Orchard', 'painting', 'painted_by: Mira Toll', 'held_by: Quill Gallery'],
  ['Quill Gallery', 'museum', 'visitors: 45000'],
])
const SHIPS = thingsOf([
  ['Aurora', 'ship', 'sank: 1917-01-09', 'owner: Northline', 'mate: Abel Pike'],
  ['Cormorant', 'ship', 'sank: 1903-12-24', 'owner: Tamar', 'mate: Abel Pike'],
  ['Dunlin', 'ship', 'owner: Tamar', 'mate: Ada Holm'],
  ['Northline', 'company'],
  ['Tamar', 'company'],
])
const linesOf = (topic: string, evidence: readonly ShownEvidence[]) =>
  extractiveAnswer(topic, evidence).split('\n').slice(0, -1)

test.each([
  [
    'Who taught the painter who taught Ola Rune?',
    ['Mira Toll, taught: Ola Rune [2].', 'Ansel Brook, taught: Mira Toll [3].'],
  ],
  [
    'Who was taught by the painter who was taught by Ansel Brook?',
    ['Ansel Brook, taught: Mira Toll [3].', 'Mira Toll, taught: Ola Rune [2].'],
  ],
  [
    'Who taught the painter who painted The Orchard?',
    ['The Orchard, painted by: Mira Toll [4].', 'Ansel Brook, taught: Mira Toll [3].'],
  ],
])('what is asked of a described thing is taken at its end: %s', (topic, lines) =>
  expect(linesOf(topic, PAINTERS)).toEqual(lines),
)

test('where a described thing is, is not said by what describes it', () => {
  expect(linesOf('Where is the museum that holds The Orchard located?', PAINTERS)[0]).toMatch(/^No answer/)
})

test('all things of which as much is said are named, and that more may fit', () => {
  expect(linesOf('Which ships sank?', SHIPS)).toEqual([
    'Aurora, sank: 1917-01-09 [1].',
    'Cormorant, sank: 1903-12-24 [2].',
    MORE_MAY_FIT,
  ])
  expect(linesOf('When did the Aurora sink?', SHIPS)).toEqual(['Aurora, sank: 1917-01-09 [1].'])
})

test.each(['Why did the Aurora sink?', 'How did the Aurora sink?'])('a date says neither why nor how: %s', (topic) => {
  expect(linesOf(topic, SHIPS)[0]).toMatch(/^No answer/)
  expect(extractiveAssess(topic, SHIPS).sufficient).toBe(false)
})

test('why is answered by a sentence that gives a reason', () => {
  const body = (text: string) => [{ entity_id: 'acme.x.y.z.report.r', label: 'Report', source: 'bm25_index', text }]
  const topic = 'Why was the dam opened?'
  expect(linesOf(topic, body('The dam was opened because the mill was flooded.'))[0]).toMatch(/^“The dam was/)
  expect(linesOf(topic, body('The dam was opened in March.'))[0]).toMatch(/^No answer/)
})
