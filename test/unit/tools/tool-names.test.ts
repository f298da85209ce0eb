import fc from 'fast-check'
import { expect, test } from 'vitest'
import { toolNames } from '../../../shared/tools/tool-names.ts'

test('names are made of what a document calls the tool', () => {
  const uses = [
    'crm.find_customer',
    './steps/refund.ts',
    './bin/count.py',
    'dag.country-brief',
    'graph.search',
    'fs.a/b.c',
  ]
  expect(toolNames(uses)).toEqual([
    'crm__find_customer',
    'refund',
    'count',
    'dag__country-brief',
    'graph__search',
    'fs__a_b__c',
  ])
})

test('the first of a name keeps it, and one added behind changes no other', () => {
  const [first, second] = toolNames(['./steps/refund.ts', './old/refund.ts'])
  expect(first).toBe('refund')
  expect(second).toMatch(/^refund_[0-9a-f]{6}$/)
  const longer = toolNames(['./steps/refund.ts', './old/refund.ts', './older/refund.mjs'])
  expect(longer.slice(0, 2)).toEqual([first, second])
})

test('the same use twice has two names', () => {
  expect(new Set(toolNames(['a.b', 'a.b', 'a.b', 'a.b'])).size).toBe(4)
})

test('any list gets names a provider takes, each once, and always the same', () => {
  const use = fc.oneof(
    fc.string({ minLength: 1, maxLength: 300 }),
    fc.constantFrom('a.b', 'a__b', 'a.b_2', './x/a__b.ts'),
  )
  fc.assert(
    fc.property(fc.array(use, { maxLength: 40 }), (uses) => {
      const names = toolNames(uses)
      expect(names.every((name) => /^[a-zA-Z0-9_-]{1,64}$/.test(name))).toBe(true)
      expect(new Set(names).size).toBe(uses.length)
      expect(toolNames(uses)).toEqual(names)
    }),
  )
})
