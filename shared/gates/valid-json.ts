import * as z from 'zod'
import type { CheckResult, Gate, GateFacts } from './gate.ts'
import { oneSentence } from './one-sentence.ts'
import { PortNameSchema } from './port-name.ts'
import { readPort, wrongType } from './read-port.ts'

const ValidJsonSchema = z.strictObject({ port: PortNameSchema })
type ValidJson = z.infer<typeof ValidJsonSchema>

/** Spec gates, `valid_json`. */
export const validJson: Gate<ValidJson> = {
  type: 'valid_json',
  summary: 'Passes when the text of the port parses as JSON, or the port already is an object or a list.',
  params: ValidJsonSchema,
  reads: ({ port }) => [port],
  examples: [
    { check: { port: 'patch' }, outputs: { patch: '{"file": "a.ts"}' }, passes: true },
    { check: { port: 'patch' }, outputs: { patch: 'Here is the patch: {}' }, passes: false },
  ],
  check,
}

function check({ port }: ValidJson, facts: GateFacts): CheckResult {
  const value = readPort(facts, port)
  if (typeof value === 'object' && value !== null) return { passed: true, reason: 'is a JSON value', facts: { port } }
  if (typeof value !== 'string') return wrongType(port, 'JSON text, an object or a list', value)
  const problem = jsonProblem(value)
  if (problem === undefined) return { passed: true, reason: 'is JSON text', facts: { port } }
  return { passed: false, reason: `must be valid JSON: ${oneSentence(problem, 160)}`, facts: { port, problem } }
}

function jsonProblem(text: string): string | undefined {
  try {
    JSON.parse(text)
    return undefined
  } catch (cause) {
    return cause instanceof SyntaxError ? cause.message : 'it cannot be read'
  }
}
