import * as z from 'zod'
import { evaluateExpression, parseExpression } from '../../dag/expression.ts'
import { canonicalJson, type Json } from '../../text/json.ts'
import { memoizeLast } from '../../text/memoize-last.ts'
import { safeOneLine } from '../../text/redact.ts'
import type { CheckResult, Gate, GateFacts } from '../gate.ts'
import { unusableReason } from '../read-facts.ts'

const ExprSchema = z.strictObject({
  expression: z.string().superRefine((source, context) => {
    const read = readSource(source)
    if (!read.ok) context.addIssue({ code: 'custom', message: read.message })
  }),
})
type Expr = z.infer<typeof ExprSchema>

/**
 * A name existing DAG files use (docs/gates.md, "Names of other systems"): docs/expressions-and-transform.md has the
 * language.
 */
export const expr: Gate<Expr> = {
  type: 'expr',
  summary:
    'Passes when the expression over `inputs` and `outputs` is exactly true; every port it reads must have a value.',
  params: ExprSchema,
  reads: ({ expression }) => [...new Set(spansOf(expression).map(({ port }) => port))],
  sees: ({ expression }, facts) =>
    spansOf(expression).map(({ root, port }) => {
      const value = ownValue(facts[root], port)
      return value === undefined ? [root, port] : [root, port, value]
    }),
  examples: [
    {
      check: { expression: 'outputs.score >= 0.5 && inputs.strict != true' },
      inputs: { strict: false },
      outputs: { score: 0.7 },
      passes: true,
    },
    { check: { expression: 'outputs.score >= 0.5' }, outputs: { score: 0.4 }, passes: false },
  ],
  check,
}

function check({ expression: source }: Expr, facts: GateFacts): CheckResult {
  const read = readSource(source)
  if (!read.ok) return { passed: false, error: true, reason: read.message }
  // The language can ask `x == null`; a gate may not pass on what is missing, so that is settled first.
  for (const { root, port } of read.places) {
    const problem = unusableReason(port, ownValue(facts[root], port))
    if (problem !== undefined) return { passed: false, unfit: true, reason: problem, facts: { port, root } }
  }
  const value = evaluateExpression(read.expression, { inputs: facts.inputs, outputs: facts.outputs })
  const shown = safeOneLine(source, 120)
  if (value === true) return { passed: true, reason: `${shown} is true`, facts: { expression: source } }
  const seen = value === undefined ? 'has no value' : `is ${safeOneLine(canonicalJson(value), 80)}`
  const told = { reason: `${shown} must be true, ${seen}`, facts: { expression: source } }
  // Only what is exactly false is the opposite of what is exactly true.
  return value === false ? { passed: false, ...told } : { passed: false, unfit: true, ...told }
}

interface Span {
  readonly root: 'inputs' | 'outputs'
  readonly port: string
}

function spansOf(source: string): readonly Span[] {
  const read = readSource(source)
  return read.ok ? read.places : []
}

const readSource = memoizeLast(64, (source: string) => {
  const parsed = parseExpression(source)
  if (!parsed.ok) return parsed
  const places: Span[] = []
  for (const [root, port] of parsed.expression.paths) {
    if (root !== 'inputs' && root !== 'outputs') {
      return { ok: false as const, message: `"${root}" is not known, an expression reads inputs.PORT or outputs.PORT` }
    }
    if (port === undefined) {
      return { ok: false as const, message: `"${root}" alone is not a value, name a port: ${root}.PORT` }
    }
    places.push({ root, port })
  }
  return { ok: true as const, expression: parsed.expression, places }
})

function ownValue(values: Readonly<Record<string, Json>>, port: string): Json | undefined {
  return Object.hasOwn(values, port) ? values[port] : undefined
}
