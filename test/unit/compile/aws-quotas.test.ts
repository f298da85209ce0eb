import { expect, test } from 'vitest'
import { AWS_QUOTAS, QUOTAS_AS_OF } from '../../../shared/aws-quotas.ts'
import { CAPS } from '../../../shared/compile/compile-dag.ts'
import { THROTTLED } from '../../../shared/compile/emit-block.ts'

test('each quota says where it stands, and when it was read', () => {
  for (const [name, { most, source }] of Object.entries(AWS_QUOTAS)) {
    expect(most, name).toBeGreaterThan(0)
    expect(source, name).toMatch(/^https:\/\/docs\.aws\.amazon\.com\/\S+\.html$/)
  }
  expect(QUOTAS_AS_OF).toMatch(/^\d{4}-\d\d-\d\d$/)
})

/** TaskScheduled, TaskStarted, TaskFailed. */
const EVENTS_A_TRY = 3

test('a machine at its cap has room for what throttling adds: 30 calls for as long as they are tried', () => {
  const room = AWS_QUOTAS.history_events.most - CAPS.events
  expect(Math.floor(room / EVENTS_A_TRY)).toBe(1_666)
  expect(Math.floor(room / (EVENTS_A_TRY * THROTTLED.MaxAttempts))).toBe(30)
  expect(CAPS.bytes).toBeLessThan(AWS_QUOTAS.machine_bytes.most)
})

test('a throttled call is tried for four hours in the mean, under FULL jitter', () => {
  const { IntervalSeconds: first = 1, BackoffRate: rate = 2, MaxDelaySeconds: most = Infinity, MaxAttempts } = THROTTLED
  const delays = Array.from({ length: MaxAttempts }, (_, n) => Math.min(most, first * rate ** n) / 2)
  const hours = delays.reduce((sum, one) => sum + one, 0) / 3_600
  expect(hours).toBeGreaterThan(3.9)
  expect(hours).toBeLessThan(4.1)
})
