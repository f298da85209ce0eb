import fc from 'fast-check'
import { expect, test } from 'vitest'
import { callbackToken, isCallbackToken, readCallbackToken } from '../../../shared/runs/callback-address.ts'

const KEY = new Uint8Array(32).fill(7)
const PLACE = { tenant: 'main', run_id: 'run_x', block: 3, epoch: 1 }

test('an address says what it is of, and is the same each time', () => {
  const token = callbackToken(KEY, PLACE)
  expect(callbackToken(KEY, PLACE)).toBe(token)
  expect(readCallbackToken(token)).toEqual(PLACE)
  expect(isCallbackToken(KEY, token, PLACE)).toBe(true)
})

test('another key, run, block or pass makes another one', () => {
  const others = [{ tenant: 'b' }, { run_id: 'run_y' }, { block: 4 }, { epoch: 2 }].map((one) => ({ ...PLACE, ...one }))
  const tokens = [...others.map((place) => callbackToken(KEY, place)), callbackToken(new Uint8Array(32), PLACE)]
  expect(new Set([callbackToken(KEY, PLACE), ...tokens]).size).toBe(6)
  for (const token of tokens) expect(isCallbackToken(KEY, token, PLACE)).toBe(false)
})

test('with any character changed it is not one that was given out', () => {
  const token = callbackToken(KEY, PLACE)
  fc.assert(
    fc.property(fc.nat(token.length - 1), fc.constantFrom('A', 'b', '_', '.', '~', 'ü', '\u0000'), (at, other) => {
      fc.pre(token[at] !== other)
      const changed = token.slice(0, at) + other + token.slice(at + 1)
      const place = readCallbackToken(changed)
      expect(place !== undefined && isCallbackToken(KEY, changed, place)).toBe(false)
    }),
  )
})

test('anything else is nothing, and no error', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 2_000 }), (text) => {
      const place = readCallbackToken(text)
      expect(place !== undefined && isCallbackToken(KEY, text, place)).toBe(false)
    }),
  )
  const mac = callbackToken(KEY, PLACE).split('.')[1]
  const spoken = (value: unknown) => `${Buffer.from(JSON.stringify(value)).toString('base64url')}.${mac}`
  for (const value of [
    null,
    {},
    [],
    ['main'],
    ['main', 'r', -1, 0],
    ['main', 'r', 0.5, 0],
    [1, 2, 3, 4],
    ['m', 'r', 0, 0, 0],
  ])
    expect(readCallbackToken(spoken(value))).toBeUndefined()
})
