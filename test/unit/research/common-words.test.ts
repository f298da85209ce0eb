import { describe, expect, test } from 'vitest'
import { inCommonWords, otherWordsForKind } from '../../../shared/research/extractive/common-words.ts'
import { extractiveAnswer } from '../../../shared/research/extractive/model.ts'

const PREDICATES = ['city.population', 'person.birthplace', 'org.headquarters', 'org.country', 'work.released']

describe('inCommonWords()', () => {
  test.each([
    ['In which year was Looms released?', 'When was Looms released?'],
    ['What date was Looms released?', 'When was Looms released?'],
    ['Where is Acme based?', 'What is the headquarters of Acme?'],
    ['In which country is Acme based?', 'What is the country of Acme?'],
    ['Where was Ann Holt born?', 'What is the birthplace of Ann Holt?'],
    ['Who was born in Oslo?', 'Who has the birthplace Oslo?'],
    ['Was Ann Holt born in Oslo?', 'Is Oslo the birthplace of Ann Holt?'],
    ['How many people were born in New York City?', 'How many people have the birthplace New York City?'],
    ['Which painters were not born in Oslo?', 'Which painters do not have the birthplace Oslo?'],
    [
      'Which books were written by people that were born in Oslo?',
      'Which books were written by people that have the birthplace Oslo?',
    ],
    ['Which person drew the gopher?', 'Who drew the gopher?'],
    ['Does Oslo have more people than Velby?', 'Does Oslo have more population than Velby?'],
    ['Which cities have more than 600000 people?', 'Which cities have a population over 600000?'],
  ])('%s', (topic, said) => expect(inCommonWords(topic, PREDICATES)).toBe(said))

  test.each([
    'Who was born in 1956?',
    'Was Ann Holt born in May?',
    'How many people were born in March 1956?',
    'What is the year of Looms?',
    'Which person is the oldest?',
    'Where is the base of Acme?',
  ])('asks for nothing else: %s', (topic) => expect(inCommonWords(topic, PREDICATES)).toBe(topic))

  test('what the graph has a word for keeps that word', () => {
    expect(inCommonWords('In which year was it given?', ['prize.year'])).toBe('In which year was it given?')
    expect(inCommonWords('Who was born in Oslo?', ['person.born'])).toBe('Who was born in Oslo?')
    expect(inCommonWords('Where is Acme based?', ['org.founded'])).toBe('Where is Acme based?')
  })
})

describe('otherWordsForKind()', () => {
  test('one thing that is asked for may be called by another word for its kind', () => {
    expect(otherWordsForKind('Which company develops Swift?', 'company')).toContain('organisation')
    expect(otherWordsForKind('In what town is it?', 'town')).toContain('city')
  })

  test.each([
    ['Which companies develop Swift?', 'companies'],
    ['How many companies are there?', 'company'],
    ['Who runs the company Acme?', 'company'],
    ['Which river is long?', 'river'],
  ])('not several, nor a number of them: %s', (topic, word) => expect(otherWordsForKind(topic, word)).toEqual([]))
})

const id = (type: string, name: string) => `acme.test.either.kb.${type}.${name}`
const LUA = {
  entity_id: id('language', 'lua'),
  label: 'Lua',
  text: 'Lua is named after the moon.',
  facts: [
    { predicate: 'lang.typing', object: 'dynamic' },
    { predicate: 'lang.designed_by', object: 'Ann Holt', object_id: id('person', 'holt') },
  ],
}
const HOLT = {
  entity_id: id('person', 'holt'),
  label: 'Ann Holt',
  facts: [
    { predicate: 'person.birthplace', object: 'Oslo', object_id: id('city', 'oslo') },
    { predicate: 'person.home', object: 'Velby', object_id: id('city', 'velby') },
  ],
}
const PIECE = {
  entity_id: id('painting', 'oranges'),
  label: 'Oranges',
  facts: [
    { predicate: 'painting.painted_by', object: 'Ann Holt', object_id: id('person', 'holt') },
    { predicate: 'painting.hangs_in', object: 'Kestrel House', object_id: id('museum', 'kestrel') },
  ],
}
const KESTREL = {
  entity_id: id('museum', 'kestrel'),
  label: 'Kestrel House',
  text: 'It is not open on Sundays.',
  facts: [],
}
const said = (topic: string) => extractiveAnswer(topic, [LUA, HOLT, PIECE, KESTREL]).split('\n').slice(0, -1)

describe('questions in everyday words', () => {
  test.each([
    ['Is Lua statically or dynamically typed?', ['Lua, typing: dynamic [1].']],
    ['Is Lua dynamically or statically typed?', ['Lua, typing: dynamic [1].']],
    ['Is Lua static or dynamic?', ['Lua, typing: dynamic [1].']],
    ['Was Ann Holt born in Oslo or Bergen?', ['Ann Holt, birthplace: Oslo [2].']],
    ['Where was the designer of Lua born?', ['Lua, designed by: Ann Holt [1].', 'Ann Holt, birthplace: Oslo [2].']],
    ['Where does Oranges hang?', ['Oranges, hangs in: Kestrel House [3].']],
    ['Which museum does Oranges hang in?', ['Oranges, hangs in: Kestrel House [3].']],
    [
      'Which museum is not open on Sundays?',
      [
        '1 museum: Kestrel House [4].',
        '“It is not open on Sundays.” [4]',
        'Note: only the evidence found was looked at; more may fit.',
      ],
    ],
    ['What is Lua named after?', ['“Lua is named after the moon.” [1]']],
  ])('%s', (topic, lines) => expect(said(topic)).toEqual(lines))

  test.each(['Where did Ann Holt paint Oranges?', 'In which city does Oranges hang?'])(
    'a person is no place, and a museum no city: %s',
    (topic) => expect(said(topic)[0]).toBe(`No answer found in the graph for: ${topic}`),
  )

  test.each(['Is Lua compiled or interpreted?', 'Was Ann Holt seen in Oslo or Velby?'])(
    'neither of two that is stated, or two by two relations, is no answer: %s',
    (topic) => expect(said(topic)[0]).toBe(`No answer found in the graph for: ${topic}`),
  )
})
