import * as z from 'zod'
import { canonicalJson, type Json } from '../../text/json.ts'
import { safeOneLine } from '../../text/redact.ts'
import type { CheckResult, Gate, GateFacts } from '../gate.ts'
import { heldTypes, PortNameSchema, readPort, unusableReason, wrongTypeResult } from '../read-facts.ts'

const EqualsSchema = z.strictObject({
  port: PortNameSchema,
  // null would never pass: a port whose value is null has none.
  value: z.json().refine((value) => value !== null, 'null equals nothing: a port whose value is null has no value'),
  case_sensitive: z.boolean().default(true),
})
type Equals = z.infer<typeof EqualsSchema>

/** Two ports are compared by `diff`. */
export const equals: Gate<Equals> = {
  type: 'equals',
  summary: 'Passes when the port is exactly `value`: same type, same text, object keys in any order.',
  params: EqualsSchema,
  reads: ({ port }) => [port],
  passesOn: ({ value }) => heldTypes(value),
  examples: [
    { check: { port: 'state', value: 'done' }, outputs: { state: 'done' }, passes: true },
    { check: { port: 'count', value: 1 }, outputs: { count: '1' }, passes: false },
  ],
  check: checkEquals,
}

function checkEquals({ port, value, case_sensitive }: Equals, facts: GateFacts): CheckResult {
  const seen = readPort(facts, port)
  if (seen === undefined || seen === null) return wrongTypeResult(port, shown(value), seen)
  const passed = fold(seen, case_sensitive) === fold(value, case_sensitive)
  const reason = passed ? `equals ${shown(value)}` : `must equal ${shown(value)}, is ${shown(seen)}`
  return { passed, reason, facts: { port, value: shown(value) } }
}

/** Upper case, unlike lower case, does not depend on a letter's neighbours. */
function fold(value: Json, caseSensitive: boolean): string {
  const text = canonicalJson(value)
  return caseSensitive ? text : text.toUpperCase()
}

function shown(value: Json): string {
  return safeOneLine(JSON.stringify(value), 100)
}

const OneOfSchema = z.strictObject({
  port: PortNameSchema,
  values: z
    .array(z.union([z.string().max(500), z.number(), z.boolean()], 'a text, a number, true or false'))
    .min(1)
    .max(200),
  case_sensitive: z.boolean().default(true),
})
type OneOf = z.infer<typeof OneOfSchema>

export const oneOf: Gate<OneOf> = {
  type: 'one_of',
  summary: 'Passes when the port is exactly one of `values`: same type, same text.',
  params: OneOfSchema,
  reads: ({ port }) => [port],
  passesOn: ({ values }) => values.flatMap(heldTypes),
  examples: [
    { check: { port: 'verdict', values: ['approve', 'reject'] }, outputs: { verdict: 'approve' }, passes: true },
    { check: { port: 'verdict', values: ['approve', 'reject'] }, outputs: { verdict: 'approved' }, passes: false },
  ],
  check: checkOneOf,
}

function checkOneOf({ port, values, case_sensitive }: OneOf, facts: GateFacts): CheckResult {
  const seen = readPort(facts, port)
  if (seen === undefined || seen === null) return wrongTypeResult(port, 'one of the wanted values', seen)
  const fold = (value: Json) => (case_sensitive ? canonicalJson(value) : canonicalJson(value).toUpperCase())
  const wanted = fold(seen)
  const passed = values.some((value) => fold(value) === wanted)
  const list = safeOneLine(values.map((value) => JSON.stringify(value)).join(', '), 200)
  const is = safeOneLine(JSON.stringify(seen), 60)
  return { passed, reason: passed ? `is ${is}` : `must be one of ${list}, is ${is}`, facts: { port, values } }
}

const DiffSchema = z.strictObject({
  left: PortNameSchema,
  right: PortNameSchema,
  mode: z.enum(['equal', 'not_equal']).default('equal'),
})
type Diff = z.infer<typeof DiffSchema>

/** Structure is compared (key order free, list order strict); an absent side fails in both modes. */
export const diff: Gate<Diff> = {
  type: 'diff',
  summary: 'Passes when the values of two ports are equal in structure (or, with mode not_equal, are not).',
  params: DiffSchema,
  reads: ({ left, right }) => [left, right],
  compares: ({ left, right, mode }) => ({ ports: [left, right], passes: mode }),
  examples: [
    {
      check: { left: 'was', right: 'now' },
      inputs: { was: { a: 1, b: [2] } },
      outputs: { now: { b: [2], a: 1 } },
      passes: true,
    },
    {
      check: { left: 'was', right: 'now', mode: 'not_equal' },
      inputs: { was: 'a' },
      outputs: { now: 'a' },
      passes: false,
    },
  ],
  check: checkDiff,
}

function checkDiff({ left, right, mode }: Diff, facts: GateFacts): CheckResult {
  const values = [left, right].map((port) => ({ port, value: readPort(facts, port) }))
  for (const { port, value } of values) {
    const problem = unusableReason(port, value)
    if (problem !== undefined) return { passed: false, unfit: true, reason: problem, facts: { port } }
  }
  const [a = '', b = ''] = values.map(({ value }) => canonicalJson(value))
  const equal = a === b
  const seen = { left: a, right: b, equal }
  if (equal === (mode === 'equal')) {
    return { passed: true, reason: `ports ${left} and ${right} ${equal ? 'are equal' : 'differ'}`, facts: seen }
  }
  const has = equal ? `both are ${safeOneLine(a, 80)}` : `they are ${safeOneLine(a, 80)} and ${safeOneLine(b, 80)}`
  return {
    passed: false,
    reason: `ports ${left} and ${right} must ${equal ? 'differ' : 'be equal'}, ${has}`,
    facts: seen,
  }
}
