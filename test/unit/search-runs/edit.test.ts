import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  completions,
  quotedValue,
  valueInQuery,
  withValue,
  withWords,
  wordsOfQuery,
} from '../../../shared/search-runs/edit.ts'
import { FIELD_NAMES } from '../../../shared/search-runs/fields.ts'
import { readQuery } from '../../../shared/search-runs/query.ts'

const NOW = Date.parse('2026-11-22T12:00:00.000Z')
const known = { dag: ['import', 'my report'], label: ['team', 'team=growth'], starter: ['user:ana'] }

/** The text with one completion taken, where `|` is the caret. */
const taken = (marked: string, wanted: string) => {
  const at = marked.indexOf('|')
  const text = marked.replace('|', '')
  const one = completions(text, at, known).find(({ insert }) => insert === wanted)
  if (one === undefined) throw new Error(`not offered: ${JSON.stringify(completions(text, at, known))}`)
  return text.slice(0, one.from) + one.insert + text.slice(one.to)
}

test.each<[string, string, string]>([
  ['|', 'state:', 'state:'],
  ['sta|', 'state:', 'state:'],
  ['-sta|', 'state:', '-state:'],
  ['dag:import st| more', 'state:', 'dag:import state: more'],
  ['state:fa|', 'failed', 'state:failed'],
  ['state:failed,blo|', 'blocked', 'state:failed,blocked'],
  ['state:fa|il dag:x', 'failed', 'state:failed dag:x'],
  ['label:te|', 'team=growth', 'label:team=growth'],
  ['dag:m|', '"my report"', 'dag:"my report"'],
  ['dag:"my r|', '"my report"', 'dag:"my report"'],
  ['starter:us|', 'user:ana', 'starter:user:ana'],
  ['time:|', '7d', 'time:7d'],
  ['cost:>|', '>=1', 'cost:>=1'],
])('at %s "%s" is offered, and gives %s', (marked, wanted, after) => {
  expect(taken(marked, wanted)).toBe(after)
})

test('a field that is none, and words, are offered nothing', () => {
  expect(completions('stat:x', 6)).toEqual([])
  expect(completions('hello', 5)).toEqual([])
})

test('every completion with a value is one the language reads', () => {
  for (const field of FIELD_NAMES) {
    for (const { insert } of completions(`${field}:`, field.length + 1, known)) {
      expect(readQuery(`${field}:${insert}`, NOW), `${field}:${insert}`).toMatchObject({ ok: true })
    }
  }
})

test('a form sets one field and leaves the others as they were written', () => {
  const text = 'state:failed  -label:team hello dag:a,b'
  expect(withValue(text, 'state', 'blocked')).toBe('-label:team hello dag:a,b state:blocked')
  expect(withValue(text, 'dag', '')).toBe('state:failed  -label:team hello')
  expect(valueInQuery(text, 'dag')).toBe('a,b')
  expect(valueInQuery(text, 'label')).toBeUndefined()
  expect(withValue('', 'state', 'failed')).toBe('state:failed')
  expect(wordsOfQuery(text)).toBe('hello')
  expect(withWords(text, 'no:field "and more')).toBe('state:failed -label:team dag:a,b "no:field" and more')
})

const anyValue = fc.string({ minLength: 1, maxLength: 20 }).filter((value) => !/\s/.test(value) || value.trim() !== '')

test('any name can be written as a value, and is read as that name', () => {
  fc.assert(
    fc.property(anyValue, (value) => {
      const read = readQuery(`dag:${quotedValue(value)}`, NOW)
      expect(read).toMatchObject({ ok: true, query: { conditions: [{ any: [{ name: value, begins: false }] }] } })
    }),
  )
})

test('a value that was set is what the query says, whatever stood there', () => {
  const terms = fc.array(fc.constantFrom('state:failed', '-dag:x', 'hello', '"a b"', 'label:team=growth', 'cost:>1'))
  fc.assert(
    fc.property(terms, anyValue, (all, value) => {
      const made = withValue(all.join(' '), 'dag', quotedValue(value))
      expect(valueInQuery(made, 'dag')).toBe(value)
      expect(withValue(made, 'dag', '')).toBe(all.join(' '))
    }),
  )
})
