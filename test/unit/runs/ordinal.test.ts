import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hasOpenQuestion, LAST_LEG, ordinal, PHASE, readOrdinal, workingLeg } from '../../../shared/runs/lane.ts'

const position = fc.record({ epoch: fc.nat(99), attempt: fc.nat(999), leg: fc.nat(9), phase: fc.nat(99) })

test('readOrdinal() is the inverse of ordinal()', () => {
  fc.assert(
    fc.property(position, (at) => {
      expect(readOrdinal(ordinal(at))).toMatchObject(at)
    }),
  )
})

test('a later epoch, attempt, leg or phase is a larger ordinal', () => {
  fc.assert(
    fc.property(position, position, (a, b) => {
      const order = a.epoch - b.epoch || a.attempt - b.attempt || a.leg - b.leg || a.phase - b.phase
      expect(Math.sign(ordinal(a) - ordinal(b))).toBe(Math.sign(order))
    }),
  )
})

test('only the four terminal phases have an outcome', () => {
  for (const leg of [0, LAST_LEG]) {
    const outcomes = Object.values(PHASE).map((phase) => {
      return readOrdinal(ordinal({ epoch: 0, attempt: 1, leg, phase })).outcome
    })
    expect(outcomes.filter((outcome) => outcome !== undefined)).toEqual(['completed', 'failed', 'skipped', 'cancelled'])
  }
})

test('a lane is asked about from its question until the first step of its next leg that is no answer', () => {
  const at = (leg: number, phase: number) => ordinal({ epoch: 2, attempt: 3, leg, phase })
  const asked = [at(0, PHASE.asked), at(1, PHASE.answered), at(1, 9), at(1, PHASE.asked)]
  expect(asked.map(hasOpenQuestion)).toEqual(asked.map(() => true))
  const others = [at(0, 1), at(0, PHASE.claimed), at(1, PHASE.claimed), at(1, PHASE.completed), at(0, PHASE.retrying)]
  expect(others.map(hasOpenQuestion)).toEqual(others.map(() => false))
  expect(asked.map(workingLeg)).toEqual([1, 1, 1, 2])
})
