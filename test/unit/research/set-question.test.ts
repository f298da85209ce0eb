import { describe, expect, test } from 'vitest'
import { extractiveAnswer } from '../../../shared/research/extractive/model.ts'
import { solveSetQuestion } from '../../../shared/research/extractive/set-answer.ts'
import type { KnownThing, ThingSet } from '../../../shared/research/extractive/thing-set.ts'

const id = (type: string, name: string) => `acme.test.sets.atlas.${type}.${name.toLowerCase().replaceAll(' ', '-')}`

function thing(type: string, label: string, says: Readonly<Record<string, string | readonly string[]>>): KnownThing {
  const facts = Object.entries(says).flatMap(([predicate, objects]) =>
    [objects].flat().map((object) => {
      const [kind = '', name] = object.split('/')
      return name === undefined ? { predicate, object } : { predicate, object: name, object_id: id(kind, name) }
    }),
  )
  return { entity_id: id(type, label), label, type, facts }
}

const PLANETS = [
  thing('planet', 'Arda', { 'x.mass': '5', 'x.found': '1801-02-03', 'x.star': 'star/Sol', 'x.state': 'solid' }),
  thing('planet', 'Brim', { 'x.mass': '9', 'x.found': '1850', 'x.star': 'star/Sol', 'x.state': 'gas' }),
  thing('planet', 'Corr', { 'x.mass': '9', 'x.found': '1900-01-01', 'x.star': 'star/Vega', 'x.state': 'gas' }),
  thing('planet', 'Dorn', { 'x.mass': '2', 'x.star': ['star/Vega', 'star/Sol'] }),
]
const STARS = [
  thing('star', 'Sol', {}),
  thing('star', 'Vega', { 'x.devoured': 'planet/Corr', 'x.orbited by': 'planet/Dorn' }),
]
const SET: ThingSet = {
  type: 'planet',
  word: 'planets',
  members: PLANETS,
  closed: true,
  around: [],
  named: [...STARS, ...PLANETS],
}

function named(topic: string, set: ThingSet = SET): readonly string[] | string | undefined {
  const word = / planets? /.exec(` ${topic.toLowerCase().replace(/[^a-z ]/g, ' ')} `)?.[0].trim() ?? ''
  const solved = solveSetQuestion(topic, { ...set, word })
  if (solved === undefined) return undefined
  return 'refused' in solved ? solved.refused : solved.answer.named.map(({ label = '' }) => label)
}

describe('solveSetQuestion()', () => {
  test.each<[string, readonly string[] | string | undefined]>([
    ['How many planets are there?', ['Arda', 'Brim', 'Corr', 'Dorn']],
    ['How many planets have the star Vega?', ['Corr', 'Dorn']],
    ['Which planets do not have the star Vega?', ['Arda', 'Brim']],
    ["Which planets don't have the star Vega?", ['Arda', 'Brim']],
    ['Which planets have neither the star Vega nor the star Sol?', 'nothing_fits'],
    ['Which planets except Arda have the star Sol?', ['Brim', 'Dorn']],
    ['Arda was found in 1801. Which other planets have the star Sol?', ['Brim', 'Dorn']],
    ['Which planets have the same star as Corr?', ['Dorn']],
    ['Which planets are gas?', ['Brim', 'Corr']],
    ['Which planets are gas or solid?', ['Arda', 'Brim', 'Corr']],
    ['Which planets are neither gas nor solid?', 'nothing_fits'],
    ['Which planets have the star Sol but not the star Vega?', ['Arda', 'Brim']],
    ['Which planets with the star Sol are gas?', ['Brim']],
    ['Who is the lightest planet?', ['Dorn', 'Arda', 'Brim']],
    ['Which planets are not gas?', ['Arda']],
    ['Which planet has the highest mass?', ['Brim', 'Corr', 'Arda']],
    ['What is the lightest planet?', ['Dorn', 'Arda', 'Brim']],
    ['Which planet was found first?', ['Arda', 'Brim', 'Corr']],
    ['Which planets were found after 1850?', ['Corr']],
    ['Which planets were found in the 19th century?', ['Arda', 'Brim']],
    ['Which planets are heavier than Arda?', ['Brim', 'Corr']],
    ['Which planets with a mass of at least 5 have the star Sol?', ['Arda', 'Brim']],
    ['Which planet devoured Vega?', undefined],
    ['Which planet did Vega devour?', ['Corr']],
    ['Which planets do not orbit?', undefined],
    ['Which planets have no star?', undefined],
    ['Which planet has the highest price?', undefined],
    ['What is the average mass of the planets?', undefined],
    ['Which planets have exactly the star Vega?', undefined],
    ['Which planets of the star that is near Vega are gas?', undefined],
    ['', undefined],
  ])('%s', (topic, labels) => expect(named(topic)).toEqual(labels))

  test('a number that may be a year is of its century', () => {
    const planets = ['1790', '1801', '1899'].map((year) => thing('planet', `P ${year}`, { 'x.charted': year }))
    const set = { ...SET, members: planets, named: planets }
    expect(named('Which planets were charted in the 19th century?', set)).toEqual(['P 1801', 'P 1899'])
  })

  test('what is not all there is neither counted nor compared', () => {
    const open = { ...SET, closed: false }
    expect(named('How many planets are there?', open)).toBe('not_closed')
    expect(named('What is the lightest planet?', open)).toBe('not_closed')
    expect(named('How many planets have the star Vega?', { ...open, around: [id('star', 'Vega')] })).toEqual([
      'Corr',
      'Dorn',
    ])
    expect(named('Which planets do not have the star Vega?', { ...open, around: [id('star', 'Vega')] })).toBe(
      'not_closed',
    )
  })

  test('of things that say nothing of it the answer says that they may fit', () => {
    const lines = extractiveAnswer('Which planets were found after 1850?', PLANETS, { set: SET }).split('\n')
    expect(lines.slice(0, 3)).toEqual([
      '1 planet: Corr [3].',
      'Corr, found: 1900-01-01 [3].',
      'Note: 4 of type planet were looked at; 1 of them do not say it, and more may fit.',
    ])
  })
})
