import fc from 'fast-check'
import { expect, test } from 'vitest'
import { approvalId, newRunId, runIdOfIdempotencyKey, runIdOfKey } from '../../../shared/runs/ids.ts'

const RUN_ID = /^run_[0-9a-hjkmnp-tv-z]{26}$/

test('newRunId() is run_ and 26 characters of Crockford base 32, all 130 bits used', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 17, maxLength: 17 }), (random) => {
      expect(newRunId(random)).toMatch(RUN_ID)
    }),
  )
  expect(newRunId(new Uint8Array(17).fill(255))).toBe(`run_${'z'.repeat(26)}`)
})

test('runIdOfKey() depends on tenant, route and key, and on nothing else', () => {
  const id = runIdOfKey('main', 'POST /x', 'k1')
  expect(id).toMatch(RUN_ID)
  expect(runIdOfKey('main', 'POST /x', 'k1')).toBe(id)
  expect(
    new Set([
      id,
      runIdOfKey('other', 'POST /x', 'k1'),
      runIdOfKey('main', 'POST /y', 'k1'),
      runIdOfKey('main', 'POST /x', 'k2'),
    ]).size,
  ).toBe(4)
})

test('runIdOfCall() is of one caller: no names and keys run together, and none meets a run of no caller', () => {
  const calls = [
    ['main', 'user:ana', 'POST /x', 'k'],
    ['main', 'user:ben', 'POST /x', 'k'],
    ['main', 'user:ana', 'POST /y', 'k'],
    ['other', 'user:ana', 'POST /x', 'k'],
    ['main', 'user:a|POST /x', 'POST /x', 'k'],
    ['main', 'user:a', 'POST /x|POST /x', 'k'],
    ['main', 'user:ana', 'POST /x', '"k"'],
  ] as const
  const [first] = calls
  const ids = calls.map(([tenant, caller, route, key]) => runIdOfIdempotencyKey(tenant, caller, route, key))
  expect(ids.every((id) => RUN_ID.test(id))).toBe(true)
  expect(runIdOfIdempotencyKey(...first)).toBe(ids[0])
  expect(new Set([...ids, runIdOfKey('main', 'POST /x', 'k')]).size).toBe(8)
})

test('approvalId() carries the run', () => {
  expect(approvalId('run_0123', 35, 1)).toBe('apr_0123_z_1')
})
