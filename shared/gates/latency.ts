import * as z from 'zod'
import type { CheckResult, Gate, GateFacts } from './gate.ts'

const LatencySchema = z.strictObject({ max_ms: z.number().min(0) })
type Latency = z.infer<typeof LatencySchema>

export const latency: Gate<Latency> = {
  type: 'latency',
  summary: 'Passes when the measured wall time of this attempt is at most `max_ms` milliseconds.',
  params: LatencySchema,
  reads: () => [],
  sees: (_, { measured }) => measured.latency_ms,
  examples: [
    { check: { max_ms: 2000 }, measured: { cost_usd: null, latency_ms: 1500 }, passes: true },
    { check: { max_ms: 2000 }, measured: { cost_usd: null, latency_ms: 2001 }, passes: false },
  ],
  check,
}

function check({ max_ms }: Latency, { measured }: GateFacts): CheckResult {
  const ms = measured.latency_ms
  if (ms === null || !Number.isFinite(ms) || ms < 0) {
    const reason = `the time of this attempt is not known, at most ${max_ms} ms wanted`
    return { passed: false, unfit: true, reason }
  }
  const passed = ms <= max_ms
  const reason = passed ? `took ${ms} ms, at most ${max_ms} wanted` : `must take at most ${max_ms} ms, took ${ms} ms`
  return { passed, reason, facts: { latency_ms: ms, max_ms } }
}
