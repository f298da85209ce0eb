import * as z from 'zod'
import type { Json } from '../../text/json.ts'
import { strictNumber } from '../../text/numbers.ts'
import { safeOneLine } from '../../text/redact.ts'
import type { CheckResult, Gate, GateFacts } from '../gate.ts'
import { PortNameSchema, readPort, unusableReason, wrongTypeResult } from '../read-facts.ts'

const RangeSchema = z
  .strictObject({ port: PortNameSchema, min: z.number().optional(), max: z.number().optional() })
  .superRefine(({ min, max }, context) => {
    if (min === undefined && max === undefined) context.addIssue({ code: 'custom', message: 'needs min, max or both' })
    if (min !== undefined && max !== undefined && min > max) {
      context.addIssue({
        code: 'custom',
        path: ['min'],
        message: `min ${min} is above max ${max}: it could never pass`,
      })
    }
  })
type Range = z.infer<typeof RangeSchema>

export const range: Gate<Range> = {
  type: 'range',
  summary: 'Passes when the port is a finite number, or a text that is exactly one, from `min` to `max`.',
  params: RangeSchema,
  reads: ({ port }) => [port],
  judges: () => ['text', 'number'],
  examples: [
    { check: { port: 'score', min: 0, max: 1 }, outputs: { score: 0.5 }, passes: true },
    { check: { port: 'score', min: 0, max: 1 }, outputs: { score: 1.5 }, passes: false },
  ],
  check: checkRange,
}

function checkRange({ port, min, max }: Range, facts: GateFacts): CheckResult {
  const value = readPort(facts, port)
  const number = typeof value === 'string' ? strictNumber(value) : value
  if (typeof number !== 'number' || !Number.isFinite(number)) {
    if (typeof value !== 'string') return wrongTypeResult(port, 'a number', value)
    const reason = `port ${port} must be a number, is the text "${safeOneLine(value, 60)}"`
    return { passed: false, unfit: true, reason, facts: { port, value } }
  }
  const passed = number >= (min ?? number) && number <= (max ?? number)
  const wanted = [min === undefined ? '' : `at least ${min}`, max === undefined ? '' : `at most ${max}`]
  const words = wanted.filter((word) => word !== '').join(' and ')
  const reason = passed ? `is ${number}, ${words} wanted` : `must be ${words}, is ${number}`
  return { passed, reason, facts: { port, value: number } }
}

const MaxValueSchema = z.strictObject({ port: PortNameSchema, max: z.number() })
type MaxValue = z.infer<typeof MaxValueSchema>

export const maxValue: Gate<MaxValue> = {
  type: 'max_value',
  summary: 'Passes when the port is a finite number, or a text that is exactly one, of at most `max`.',
  params: MaxValueSchema,
  reads: ({ port }) => [port],
  judges: () => ['text', 'number'],
  examples: [
    { check: { port: 'risk', max: 0.2 }, outputs: { risk: 0.1 }, passes: true },
    { check: { port: 'risk', max: 0.2 }, outputs: { risk: '30 %' }, passes: false },
  ],
  check: checkMaxValue,
}

function checkMaxValue({ port, max }: MaxValue, facts: GateFacts): CheckResult {
  const value = readPort(facts, port)
  const number = typeof value === 'string' ? strictNumber(value) : value
  if (typeof number === 'number' && Number.isFinite(number)) {
    const passed = number <= max
    const reason = passed ? `is ${number}, at most ${max} wanted` : `must be at most ${max}, is ${number}`
    return { passed, reason, facts: { port, value: number, max } }
  }
  if (typeof value !== 'string') return wrongTypeResult(port, 'a number', value)
  const reason = unusableReason(port, value) ?? `port ${port} must be a number, is the text "${safeOneLine(value, 60)}"`
  return { passed: false, unfit: true, reason, facts: { port, value } }
}

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
  check: checkFreshness,
}

function checkFreshness({ port, max_age_sec }: Freshness, facts: GateFacts): CheckResult {
  const times = readTimes(readPort(facts, port))
  if (times === undefined) return wrongTypeResult(port, 'a time or a list of times', readPort(facts, port))
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
  const seen = `"${safeOneLine(bad.time, 60)}" ${ageWords(bad.age)}`
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

function ageWords(age: number): string {
  if (Number.isNaN(age)) return 'is no ISO 8601 time with a zone'
  return age < 0 ? 'is in the future' : `is ${age} s old`
}

const TIME = /^(\d{4}-\d\d-\d\d)T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/

/** Milliseconds of exactly one ISO 8601 time with its zone (`2026-03-01T12:00:00Z`); undefined = it is none. */
function isoTime(text: string): number | undefined {
  if (text.length > 40) return undefined
  const day = TIME.exec(text)?.[1]
  if (day === undefined) return undefined
  const midnight = new Date(`${day}T00:00:00Z`)
  // The 30th of February would become the 2nd of March.
  if (Number.isNaN(midnight.getTime()) || midnight.toISOString().slice(0, 10) !== day) return undefined
  return Date.parse(text)
}
