import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { solveSetQuestion } from '../../../shared/research/extractive/set-answer.ts'
import type { KnownThing, ThingSet } from '../../../shared/research/extractive/thing-set.ts'

const id = (type: string, name: string) => `acme.test.sets.shelf.${type}.${name}`

interface Person {
  readonly born: number | undefined
}

/** Books by the places of their authors among the people. */
function shelf(people: readonly Person[], books: readonly (readonly number[])[]): ThingSet {
  const linked: KnownThing[] = people.map(({ born }, at) => ({
    entity_id: id('person', `p${at}`),
    label: `Person ${at}`,
    type: 'person',
    facts: born === undefined ? [] : [{ predicate: 'person.born', object: `${born}` }],
  }))
  const members = books.map((authors, at) => ({
    entity_id: id('book', `b${at}`),
    label: `Book ${at}`,
    type: 'book',
    facts: authors.map((of) => ({
      predicate: 'book.written_by',
      object: `Person ${of}`,
      object_id: id('person', `p${of}`),
    })),
  }))
  return { type: 'book', word: 'books', members, closed: true, around: [], named: [], linked }
}

const QUESTION = 'Which books were written by people that were born before 1900?'

function found(set: ThingSet, topic = QUESTION) {
  const solved = solveSetQuestion(topic, set)
  return solved === undefined ? undefined : 'refused' in solved ? solved.refused : solved.answer
}

describe('things that lead to others, of which something is asked too', () => {
  const SHELF = shelf([{ born: 1850 }, { born: 1950 }, { born: undefined }], [[0], [1], [2], [0, 1], []])

  test('fit where one of those fits, with what says so of both', () => {
    const answer = found(SHELF)
    expect(answer).toMatchObject({ count: 2, silent: 2, proving: [id('person', 'p0')] })
    expect(typeof answer === 'object' && answer.named.map(({ label }) => label)).toEqual(['Book 0', 'Book 3'])
  })

  test.each([
    'How many books were written by people born before 1900?',
    'Which books were written by a person who was born before 1900?',
  ])('in other words: %s', (topic) => expect(found(SHELF, topic)).toMatchObject({ count: 2 }))

  test.each([
    'Which books were written by people that were not born before 1900?',
    'Which books were written by people born before 1900 and after 1800?',
    'Which books were bought by people born before 1900?',
    'Which books were written by people that sing?',
  ])('what is not understood whole is not answered: %s', (topic) => expect(found(SHELF, topic)).toBeUndefined())

  test('as many as a look at each of them counts', () => {
    const person = fc.record({ born: fc.option(fc.integer({ min: 1800, max: 1999 }), { nil: undefined }) })
    const graph = fc.array(person, { minLength: 1, maxLength: 8 }).chain((people) => {
      const authors = fc.uniqueArray(fc.nat(people.length - 1), { maxLength: 3 })
      return fc.tuple(fc.constant(people), fc.array(authors, { minLength: 1, maxLength: 12 }))
    })
    fc.assert(
      fc.property(graph, ([people, books]) => {
        const isBefore = (at: number) => (people[at]?.born ?? 9_999) < 1900
        const count = books.filter((authors) => authors.some(isBefore)).length
        const answer = found(shelf(people, books))
        // Where nobody is stated to be born, or no book has an author, the words mean nothing there.
        if (answer === undefined) {
          expect(people.every(({ born }) => born === undefined) || books.every(({ length }) => length === 0)).toBe(true)
        } else if (answer === 'nothing_fits') expect(count).toBe(0)
        else expect(answer).toMatchObject({ count })
      }),
    )
  })
})
