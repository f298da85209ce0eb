import * as z from 'zod'
import type { Json } from '../canonical.ts'
import type { CheckResult, Gate, GateFacts } from './gate.ts'
import { isoTime } from './iso-time.ts'
import { oneSentence } from './one-sentence.ts'
import { PortNameSchema } from './port-name.ts'
import { readPort, wrongType } from './read-port.ts'

const MAX_TIMES = 10_000

const FreshnessSchema = z.strictObject({ port: PortNameSchema, max_age_sec: z.int().min(0) })
type Freshness = z.infer<typeof FreshnessSchema>

export const freshness: Gate<Freshness> = {
  type: 'freshness',
  summary:
    'Passes when every time in the port (one ISO 8601 text with its zone, or a list of them) is at most `max_age_sec` seconds before the verdict and not after it.',
  params: FreshnessSchema,
  reads: ({ port }) => [port],
  judges: () => ['text'],
  sees: (_, { at }) => at ?? null,
  examples: [
    {
      check: { port: 'fetched_at', max_age_sec: 3600 },
      outputs: { fetched_at: '2026-03-01T11:30:00Z' },
      at: '2026-03-01T12:00:00.000Z',
      passes: true,
    },
    {
      check: { port: 'fetched_at', max_age_sec: 3600 },
      outputs: { fetched_at: ['2026-03-01T11:30:00Z', '2026-02-28T11:30:00Z'] },
      at: '2026-03-01T12:00:00.000Z',
      passes: false,
    },
  ],
  check,
}

function check({ port, max_age_sec }: Freshness, facts: GateFacts): CheckResult {
  const times = readTimes(readPort(facts, port))
  if (times === undefined) return wrongType(port, 'a time or a list of times', readPort(facts, port))
  if (times.length === 0 || times.length > MAX_TIMES) {
    const reason = `port ${port} must have 1 to ${MAX_TIMES} times, has ${times.length}`
    return { passed: false, unfit: true, reason, facts: { port } }
  }
  const now = isoTime(facts.at ?? '')
  if (now === undefined) return { passed: false, error: true, reason: 'when this verdict is asked for is not known' }
  const ages = times.map((time) => ({ time, age: ageOf(time, now) }))
  const bad = ages.find(({ age }) => !(age >= 0 && age <= max_age_sec))
  if (bad === undefined) {
    const oldest = ages.reduce((most, { age }) => Math.max(most, age), 0)
    return {
      passed: true,
      reason: `is at most ${oldest} s old, ${max_age_sec} allowed`,
      facts: { port, oldest_sec: oldest },
    }
  }
  const seen = `"${oneSentence(bad.time, 60)}" ${say(bad.age)}`
  const reason = `must be at most ${max_age_sec} s old: ${seen}`
  return {
    passed: false,
    ...(Number.isNaN(bad.age) ? { unfit: true as const } : {}),
    reason,
    facts: { port, time: bad.time },
  }
}

function readTimes(value: Json | undefined): readonly string[] | undefined {
  if (typeof value === 'string') return [value]
  if (!Array.isArray(value)) return undefined
  const times = value.filter((time) => typeof time === 'string')
  return times.length === value.length ? times : undefined
}

function ageOf(time: string, now: number): number {
  const then = isoTime(time)
  return then === undefined ? Number.NaN : (now - then) / 1_000
}

function say(age: number): string {
  if (Number.isNaN(age)) return 'is no ISO 8601 time with a zone'
  return age < 0 ? 'is in the future' : `is ${age} s old`
}
