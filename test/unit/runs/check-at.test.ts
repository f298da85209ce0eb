import { expect, test } from 'vitest'
import { earlierTime, nextCheck } from '../../../shared/runs/head.ts'

const now = Date.parse('2026-01-01T00:00:00.000Z')
const in_ = (sec: number) => new Date(now + sec * 1_000).toISOString()
const head = { state: 'running', deadline_at: in_(7_000), approvals: {}, outbox: [] } as const
const pending = { block: 0, status: 'pending', expires_at: in_(30), digest: 'd' } as const

test('nextCheck() is the earliest of deadline, approval expiry, unsent outbox + 60 s and a look each 5 minutes', () => {
  expect(nextCheck(head, now)).toBe(in_(300))
  expect(nextCheck({ ...head, deadline_at: in_(100) }, now)).toBe(in_(100))
  expect(nextCheck({ ...head, approvals: { a: pending } }, now)).toBe(in_(30))
  expect(nextCheck({ ...head, outbox: [{ id: 'x', at: in_(-10), kind: 'start_run' }] }, now)).toBe(in_(50))
})

test('a deadline that has passed is looked at again in a second, not at once for ever', () => {
  expect(nextCheck({ ...head, deadline_at: in_(-5) }, now)).toBe(in_(1))
  expect(nextCheck({ ...head, deadline_at: undefined }, now)).toBe(in_(300))
})

test('a run that waits for people alone is looked at after as long as it has waited, and then each day', () => {
  const week = { ...pending, expires_at: in_(604_800) }
  const resting = (sec: number) => ({
    ...head,
    deadline_at: undefined,
    approvals: { a: week },
    resting: { since: in_(-sec) },
  })
  expect(nextCheck(resting(0), now)).toBe(in_(300))
  expect(nextCheck(resting(3_000), now)).toBe(in_(3_000))
  expect(nextCheck(resting(500_000), now)).toBe(in_(86_400))
  // Its time, or that of a reminder, is kept.
  expect(nextCheck({ ...resting(3_000), approvals: { a: pending } }, now)).toBe(in_(30))
  // One that wants to go on, waits for something else too, or is asked nothing any more, is looked at as any other.
  const wants = { since: in_(-3_000), wants_at: in_(-10) }
  expect(nextCheck({ ...resting(3_000), resting: wants }, now)).toBe(in_(300))
  expect(nextCheck(resting(3_000), now, now + 600_000)).toBe(in_(300))
  expect(nextCheck({ ...resting(3_000), approvals: { a: { ...week, status: 'approved' } } }, now)).toBe(in_(300))
})

test('a terminal run is looked at only while it owes something', () => {
  expect(nextCheck({ ...head, state: 'completed' }, now)).toBeUndefined()
  const owing = { ...head, state: 'completed', outbox: [{ id: 'x', at: in_(0), kind: 'start_run' }] } as const
  expect(nextCheck(owing, now)).toBe(in_(60))
})

test('earlier() keeps the earlier time', () => {
  expect(earlierTime(undefined, in_(1))).toBe(in_(1))
  expect(earlierTime(in_(0), in_(1))).toBe(in_(0))
  expect(earlierTime(in_(2), in_(1))).toBe(in_(1))
})
