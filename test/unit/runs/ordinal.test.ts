import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ordinal, PHASE, readOrdinal } from '../../../shared/runs/ordinal.ts'

const position = fc.record({ epoch: fc.nat(99), attempt: fc.nat(999), phase: fc.nat(999) })

test('readOrdinal() is the inverse of ordinal()', () => {
  fc.assert(
    fc.property(position, (at) => {
      expect(readOrdinal(ordinal(at))).toMatchObject(at)
    }),
  )
})

test('a later epoch, attempt or phase is a larger ordinal', () => {
  fc.assert(
    fc.property(position, position, (a, b) => {
      const order = a.epoch - b.epoch || a.attempt - b.attempt || a.phase - b.phase
      expect(Math.sign(ordinal(a) - ordinal(b))).toBe(Math.sign(order))
    }),
  )
})

test('only the four terminal phases have an outcome', () => {
  const outcomes = Object.values(PHASE).map((phase) => readOrdinal(ordinal({ epoch: 0, attempt: 1, phase })).outcome)
  expect(outcomes.filter((outcome) => outcome !== undefined)).toEqual(['completed', 'failed', 'skipped', 'cancelled'])
})
