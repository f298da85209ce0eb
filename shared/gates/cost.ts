import * as z from 'zod'
import type { CheckResult, Gate, GateFacts } from './gate.ts'

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
  check,
}

function check({ max, unknown }: Cost, { measured }: GateFacts): CheckResult {
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
