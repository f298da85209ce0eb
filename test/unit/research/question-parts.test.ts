import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { howItAnswers } from '../../../shared/research/claims/claim-lines.ts'
import { extractiveAnswer, extractiveAssess } from '../../../shared/research/extractive/model.ts'
import { cutIntoParts } from '../../../shared/research/extractive/question-parts.ts'

const id = (type: string, name: string) => `acme.test.parts.atlas.${type}.${name}`
const edge = (predicate: string, object: string, object_id: string) => ({ predicate, object, object_id })

const TARN = {
  entity_id: id('country', 'tarn'),
  label: 'Tarn',
  text: 'Tarn is a country. It is landlocked. It borders Holm.',
  facts: [
    edge('geo.capital', 'Velby', id('city', 'velby')),
    { predicate: 'geo.population', object: '9000000' },
    edge('geo.borders', 'Holm', id('country', 'holm')),
  ],
}
const VELBY = {
  entity_id: id('city', 'velby'),
  label: 'Velby',
  text: 'Velby is a city. It lies on a lake.',
  facts: [
    { predicate: 'geo.population', object: '120000' },
    { predicate: 'geo.founded', object: '1204' },
  ],
}
const BOOK = {
  entity_id: id('book', 'looms'),
  label: 'Silent Looms',
  facts: [edge('work.author', 'Marta Kovac', id('person', 'kovac')), { predicate: 'work.published', object: '1931' }],
}
const KOVAC = {
  entity_id: id('person', 'kovac'),
  label: 'Marta Kovac',
  facts: [{ predicate: 'person.born', object: '1899-04-02' }],
}
const ALL = [TARN, VELBY, BOOK, KOVAC]

const said = (topic: string) => extractiveAnswer(topic, ALL).split('\n').slice(0, -1)

describe('a question that asks several things', () => {
  test.each([
    ['What is the capital of Tarn, and is it landlocked?', ['Tarn, capital: Velby [1].', '“It is landlocked.” [1]']],
    ['What is the capital of Tarn? Is it landlocked?', ['Tarn, capital: Velby [1].', '“It is landlocked.” [1]']],
    [
      'What is the capital of Tarn and when was it founded?',
      ['Tarn, capital: Velby [1].', 'Velby, founded: 1204 [2].'],
    ],
    [
      'Who is the author of Silent Looms, and when was she born?',
      ['Silent Looms, author: Marta Kovac [3].', 'Marta Kovac, born: 1899-04-02 [4].'],
    ],
    [
      'Who is the author of Silent Looms, and when was Silent Looms published?',
      ['Silent Looms, author: Marta Kovac [3].', 'Silent Looms, published: 1931 [3].'],
    ],
  ])('is answered part by part, each of what its pronoun means: %s', (topic, lines) => {
    expect(said(topic)).toEqual(lines)
    expect(extractiveAssess(topic, ALL).sufficient).toBe(true)
    expect(howItAnswers(topic, extractiveAnswer(topic, ALL))).toBe('yes')
  })

  test('what may mean either of two things is said of both', () => {
    expect(said('What is the capital of Tarn, and what is its population?')).toEqual([
      'Tarn, capital: Velby [1].',
      'Tarn, population: 9000000 [1].',
      'Velby, population: 120000 [2].',
    ])
  })

  test('a part nobody answers is named, and the others are answered', () => {
    const topic = 'What is the capital of Tarn, and who owns it?'
    expect(said(topic)).toEqual(['Tarn, capital: Velby [1].', 'Note: no answer found to this part: who owns it?'])
    expect(extractiveAssess(topic, ALL)).toMatchObject({ sufficient: false })
    expect(howItAnswers(topic, extractiveAnswer(topic, ALL))).toBe('part')
  })

  test('a pronoun behind what was not found means nobody', () => {
    expect(said('Which lake is the capital of Tarn, and is it landlocked?').join('\n')).not.toContain('landlocked.”')
  })

  test('a note of a part that the question does not have is a claim', () => {
    const line = 'Note: no answer found to this part: who owns it?'
    expect(howItAnswers('What is the capital of Tarn?', `Tarn, capital: Velby [1].\n${line}`)).toBe('yes')
  })
})

describe('where a question is cut', () => {
  test.each([
    'Which countries border Tarn and are landlocked?',
    'Which countries border both Tarn and Holm?',
    'What is the capital and population of Tarn?',
    'Who founded Tarn and when?',
    'Which is larger, Tarn or Holm?',
    'What happened between the war and when it ended?',
    'What is the area of the country bordering Tarn and whose capital is Velby?',
    'Who founded the city that lies on the lake and which was burnt?',
    'Tell me about Tarn and when it was founded.',
  ])('one question stays whole: %s', (topic) => expect(cutIntoParts(topic)).toHaveLength(1))

  test('each part is a question that stands there word for word', () => {
    const part = fc.constantFrom(
      'what is the capital of Tarn',
      'is it landlocked',
      'who founded Velby',
      'when did he die',
    )
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 4 }), (parts) => {
        const topic = `${parts.join(', and ')}?`
        const cut = cutIntoParts(topic)
        expect(cut.map((one) => one.slice(0, -1)).join(', and ')).toBe(topic.slice(0, -1))
        expect(cut.length).toBe(parts.length)
      }),
    )
  })
})
