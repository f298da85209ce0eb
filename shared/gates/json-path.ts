import * as z from 'zod'
import { canonicalJson, type Json } from '../canonical.ts'
import type { CheckResult, Gate, GateFacts } from './gate.ts'
import { oneSentence } from './one-sentence.ts'
import { PortNameSchema } from './port-name.ts'
import { readPort, wrongType } from './read-port.ts'

/** `a.b[0]["odd key"]`, with or without `$.` in front: names, list positions from 0, quoted keys. */
const PATH =
  /^\$?(?:\.?[A-Za-z_][\w-]*|\[\d{1,9}\]|\["[^"\\]{0,200}"\])(?:\.[A-Za-z_][\w-]*|\[\d{1,9}\]|\["[^"\\]{0,200}"\])*$/
const STEP = /\.?([A-Za-z_][\w-]*)|\[(\d+)\]|\["([^"]*)"\]/g

const JsonPathSchema = z
  .strictObject({
    port: PortNameSchema,
    path: z.string().max(500).regex(PATH, 'a path such as rows[0].name or ["odd key"], without wildcards'),
    equals: z.json().optional(),
    min: z.number().optional(),
    max: z.number().optional(),
  })
  .refine(({ equals, min, max }) => equals === undefined || (min === undefined && max === undefined), {
    message: 'give equals, or min and max, not both',
  })
type JsonPath = z.infer<typeof JsonPathSchema>

/** Without equals, min and max a value that is not null is enough. */
export const jsonPath: Gate<JsonPath> = {
  type: 'json_path',
  summary: 'Passes when the value at `path` inside the port is there and equals `equals`, or lies from `min` to `max`.',
  params: JsonPathSchema,
  reads: ({ port }) => [port],
  judges: () => [],
  examples: [
    {
      check: { port: 'result', path: 'rows[0].id', equals: 7 },
      outputs: { result: { rows: [{ id: 7 }] } },
      passes: true,
    },
    { check: { port: 'result', path: 'score', min: 0.5 }, outputs: { result: { score: 0.4 } }, passes: false },
  ],
  check,
}

function check({ port, path, equals, min, max }: JsonPath, facts: GateFacts): CheckResult {
  const whole = readPort(facts, port)
  if (typeof whole !== 'object' || whole === null) return wrongType(port, 'an object or a list', whole)
  const value = valueAt(whole, path)
  if (value === undefined || value === null) {
    const told = { reason: `port ${port} has no value at ${path}`, facts: { port, path } }
    // Whether there is one may be all that is asked; what is not there equals nothing and is in no range.
    const asked = equals === undefined && min === undefined && max === undefined
    return asked ? { passed: false, ...told } : { passed: false, unfit: true, ...told }
  }
  const shown = oneSentence(JSON.stringify(value), 80)
  const problem = problemOf(value, equals, min, max)
  const told = { port, path, value: shown }
  if (problem === undefined) return { passed: true, reason: `${path} is ${shown}`, facts: told }
  const reason = `${path} must ${problem}, is ${shown}`
  return problem === NO_NUMBER
    ? { passed: false, unfit: true, reason, facts: told }
    : { passed: false, reason, facts: told }
}

function valueAt(whole: Json, path: string): Json | undefined {
  let value: Json | undefined = whole
  for (const [, name, position, key] of path.replace(/^\$/, '').matchAll(STEP)) {
    if (typeof value !== 'object' || value === null) return undefined
    if (Array.isArray(value) !== (position !== undefined)) return undefined
    const step = name ?? position ?? key ?? ''
    value = Object.hasOwn(value, step) ? (value as Readonly<Record<string, Json>>)[step] : undefined
  }
  return value
}

const NO_NUMBER = 'be a number'

function problemOf(value: Json, equals: Json | undefined, min?: number, max?: number): string | undefined {
  if (equals !== undefined) {
    return canonicalJson(value) === canonicalJson(equals) ? undefined : `be ${oneSentence(JSON.stringify(equals), 80)}`
  }
  if (min === undefined && max === undefined) return undefined
  if (typeof value !== 'number' || !Number.isFinite(value)) return NO_NUMBER
  if (min !== undefined && value < min) return `be at least ${min}`
  return max !== undefined && value > max ? `be at most ${max}` : undefined
}
