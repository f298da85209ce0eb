import * as z from 'zod'
import { canonicalJson } from '../canonical.ts'
import type { CheckResult, Gate, GateFacts } from './gate.ts'
import { oneSentence } from './one-sentence.ts'
import { PortNameSchema } from './port-name.ts'
import { readPort, unusable } from './read-port.ts'

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
  check,
}

function check({ left, right, mode }: Diff, facts: GateFacts): CheckResult {
  const values = [left, right].map((port) => ({ port, value: readPort(facts, port) }))
  for (const { port, value } of values) {
    const problem = unusable(port, value)
    if (problem !== undefined) return { passed: false, unfit: true, reason: problem, facts: { port } }
  }
  const [a = '', b = ''] = values.map(({ value }) => canonicalJson(value))
  const equal = a === b
  const seen = { left: a, right: b, equal }
  if (equal === (mode === 'equal')) {
    return { passed: true, reason: `ports ${left} and ${right} ${equal ? 'are equal' : 'differ'}`, facts: seen }
  }
  const has = equal ? `both are ${oneSentence(a, 80)}` : `they are ${oneSentence(a, 80)} and ${oneSentence(b, 80)}`
  return {
    passed: false,
    reason: `ports ${left} and ${right} must ${equal ? 'differ' : 'be equal'}, ${has}`,
    facts: seen,
  }
}
