import { expect, test } from 'vitest'
import { firingState, readTyped, troubleOf } from '../../../clients/console/triggers/trigger-words.ts'

test('a firing is shown by the marks of runs and blocks', () => {
  expect((['owed', 'started', 'skipped', 'failed'] as const).map(firingState)).toEqual([
    'pending',
    'completed',
    'skipped',
    'failed',
  ])
})

test('what failed is told, and how often', () => {
  expect([0, 1, 3].map((failures) => troubleOf({ failures }))).toEqual([
    undefined,
    'The last firing failed: no run was started.',
    'The last 3 firings failed: no run was started.',
  ])
})

test('what somebody typed is JSON, nothing, or told to be neither', () => {
  expect(readTyped(' ')).toEqual({})
  expect(readTyped('{"a": 1}')).toEqual({ value: { a: 1 } })
  expect(readTyped('{a')).toHaveProperty('problem')
})
