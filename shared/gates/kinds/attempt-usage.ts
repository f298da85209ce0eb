import * as z from 'zod'
import type { CheckResult, Gate, GateFacts } from '../gate.ts'

const CostSchema = z.strictObject({ max: z.number().min(0), unknown: z.enum(['fail', 'pass']).default('fail') })
type Cost = z.infer<typeof CostSchema>

export const cost: Gate<Cost> = {
  type: 'cost',
  summary:
    'Passes when the measured cost of this attempt is at most `max` USD; an unknown price fails unless `unknown: pass`.',
  params: CostSchema,
  reads: () => [],
  sees: (_, { measured }) => measured.cost_usd,
  examples: [
    { check: { max: 0.05 }, measured: { cost_usd: 0.04, latency_ms: null }, passes: true },
    { check: { max: 0.05 }, measured: { cost_usd: null, latency_ms: null }, passes: false },
  ],
  check: checkCost,
}

function checkCost({ max, unknown }: Cost, { measured }: GateFacts): CheckResult {
  const usd = measured.cost_usd
  // A price nobody can have measured is as good as none.
  if (usd === null || !Number.isFinite(usd) || usd < 0) {
    const reason = `the cost of this attempt is not known, at most ${max} USD wanted`
    const told = { reason, facts: { max, unknown } }
    return unknown === 'pass' ? { passed: true, ...told } : { passed: false, unfit: true, ...told }
  }
  const passed = usd <= max
  const reason = passed ? `cost ${usd} USD, at most ${max} wanted` : `must cost at most ${max} USD, cost ${usd} USD`
  return { passed, reason, facts: { cost_usd: usd, max } }
}

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
  check: checkLatency,
}

function checkLatency({ max_ms }: Latency, { measured }: GateFacts): CheckResult {
  const ms = measured.latency_ms
  if (ms === null || !Number.isFinite(ms) || ms < 0) {
    const reason = `the time of this attempt is not known, at most ${max_ms} ms wanted`
    return { passed: false, unfit: true, reason }
  }
  const passed = ms <= max_ms
  const reason = passed ? `took ${ms} ms, at most ${max_ms} wanted` : `must take at most ${max_ms} ms, took ${ms} ms`
  return { passed, reason, facts: { latency_ms: ms, max_ms } }
}

const TokensSchema = z.strictObject({ max: z.int().min(0), unknown: z.enum(['fail', 'pass']).default('fail') })
type Tokens = z.infer<typeof TokensSchema>

export const tokens: Gate<Tokens> = {
  type: 'tokens',
  summary:
    'Passes when this attempt used at most `max` tokens, in and out together; an unknown number fails unless `unknown: pass`.',
  params: TokensSchema,
  reads: () => [],
  sees: (_, { measured }) => measured.tokens ?? null,
  examples: [
    { check: { max: 4000 }, measured: { cost_usd: null, latency_ms: null, tokens: 3200 }, passes: true },
    { check: { max: 4000 }, measured: { cost_usd: null, latency_ms: null }, passes: false },
  ],
  check: checkTokens,
}

function checkTokens({ max, unknown }: Tokens, { measured }: GateFacts): CheckResult {
  const used = measured.tokens ?? Number.NaN
  if (!Number.isFinite(used) || used < 0) {
    const told = { reason: `the tokens of this attempt are not known, at most ${max} wanted`, facts: { max, unknown } }
    return unknown === 'pass' ? { passed: true, ...told } : { passed: false, unfit: true, ...told }
  }
  const passed = used <= max
  const reason = passed ? `used ${used} tokens, at most ${max} wanted` : `must use at most ${max} tokens, used ${used}`
  return { passed, reason, facts: { tokens: used, max } }
}
