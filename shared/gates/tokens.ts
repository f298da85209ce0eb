import * as z from 'zod'
import type { CheckResult, Gate, GateFacts } from './gate.ts'

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
  check,
}

function check({ max, unknown }: Tokens, { measured }: GateFacts): CheckResult {
  const used = measured.tokens ?? Number.NaN
  if (!Number.isFinite(used) || used < 0) {
    const told = { reason: `the tokens of this attempt are not known, at most ${max} wanted`, facts: { max, unknown } }
    return unknown === 'pass' ? { passed: true, ...told } : { passed: false, unfit: true, ...told }
  }
  const passed = used <= max
  const reason = passed ? `used ${used} tokens, at most ${max} wanted` : `must use at most ${max} tokens, used ${used}`
  return { passed, reason, facts: { tokens: used, max } }
}
