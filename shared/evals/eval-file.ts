import * as z from 'zod'
import { Fault, type Issue } from '../errors.ts'
import { parseCheck } from '../gates/parse-check.ts'
import { RUN_STATES, SHOWN_STATES } from '../runs/head.ts'
import { SEPARATORS, type Separator } from '../table/delimited-text.ts'
import { TABLE_FORMATS } from '../table/read-rows.ts'
import type { Problem } from '../text/document-problems.ts'
import type { Json } from '../text/json.ts'
import { issueProblems } from '../text/schema-issues.ts'
import { lineFinder, locate, type Path, pathText, type Source } from '../text/source-position.ts'
import { quoted } from '../text/wording.ts'
import { readYaml } from '../text/yaml.ts'

/** Limits of one evaluation; docs/eval.md tells them. */
export const EVAL_LIMITS = { items: 10_000, variants: 20, expectations: 50, thresholds: 100, concurrency: 100 } as const

const json = z.custom<Json>(() => true)
const name = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/, 'up to 100 letters, digits and . _ -, the first one no sign')
const block = z.string().regex(/^[A-Za-z][\w-]{0,99}$/, 'the id of a block')
const values = z.record(z.string().min(1).max(200), json)
const separators = [...Object.keys(SEPARATORS), ...Object.values(SEPARATORS)]

const ExpectSchema = z.strictObject({
  name: name.describe('What it is called in tables'),
  block: block.describe('The block whose outputs it looks at'),
  check: z.record(z.string(), json).describe('A check as a gate has it; its texts may hold {{item.COLUMN}}'),
  error: z.string().min(1).max(500).optional().describe('What it means when it fails'),
})
export type Expect = z.output<typeof ExpectSchema>

const DataSchema = z
  .strictObject({
    file: z.string().min(1).optional().describe('CSV, TSV, NDJSON or JSON, beside this file'),
    format: z.enum(TABLE_FORMATS).optional().describe('Absent: found by the first character'),
    separator: z
      .custom<Separator>((value) => typeof value === 'string' && separators.includes(value), {
        error: `allowed are ${Object.keys(SEPARATORS).join(', ')}`,
      })
      .optional()
      .describe('Of CSV: comma, semicolon, tab, pipe, or the sign'),
    items: z
      .array(
        z.strictObject({
          id: name.optional(),
          values,
          expect: z.array(ExpectSchema).max(EVAL_LIMITS.expectations).optional().describe('Of this item alone'),
        }),
      )
      .min(1)
      .max(EVAL_LIMITS.items)
      .optional()
      .describe('Items written here'),
    runs: z
      .strictObject({
        dag: z.string().min(1).max(200).describe('Past runs of this document'),
        status: z
          .enum([...RUN_STATES, ...SHOWN_STATES])
          .optional()
          .describe('In this state, as `run list` has them'),
        limit: z.int().min(1).max(1_000).default(50).describe('The newest of them'),
      })
      .optional()
      .describe('Past runs: an item a run, its columns the run inputs it had, and run_id'),
    id: z.string().min(1).max(200).optional().describe('The column that names an item; absent: the row, from 1'),
    limit: z.int().min(1).max(EVAL_LIMITS.items).optional().describe('Only the first so many'),
  })
  .refine(({ file, items, runs }) => [file, items, runs].filter((one) => one !== undefined).length === 1, {
    error: 'give exactly one of file, items, runs',
  })

const WHICH = {
  document: z.string().min(1).optional().describe('A document in a file, beside this one'),
  example: name.optional().describe('A document shipped with the package'),
  deployed: name.optional().describe('A document that the place has'),
} as const

const VariantSchema = z.strictObject({
  name: name.describe('What it is called in tables'),
  ...WHICH,
  inputs: values.optional().describe('Run inputs besides those of all variants; texts may hold {{item.COLUMN}}'),
  set: z
    .record(z.string().regex(/^[A-Za-z][\w-]*(?:\.[\w-]+)+$/, 'BLOCK.KEY, as write.agent.model'), json)
    .optional()
    .describe('Values of blocks that are others in this variant: write.agent.model: gpt-4.1'),
})
export type Variant = z.output<typeof VariantSchema>

const MEASURES = ['passed', 'completed', 'goal', 'gate', 'expect', 'usd', 'tokens', 'latency_ms', 'worse'] as const

const ThresholdSchema = z
  .strictObject({
    measure: z.enum(MEASURES).describe('A share (passed .. expect), a mean (usd .. latency_ms), or a number of items'),
    name: z.string().min(1).max(200).optional().describe('Of gate: BLOCK/GATE; of expect: its name'),
    variant: name.optional().describe('Absent: every variant'),
    min: z.number().optional(),
    max: z.number().optional(),
    by: z
      .enum(['estimate', 'interval'])
      .default('estimate')
      .describe('interval: the whole 95 % interval must be inside'),
  })
  .refine(({ min, max }) => min !== undefined || max !== undefined, { error: 'give min, max or both' })
  .refine(({ measure, name: of }) => (measure === 'gate' || measure === 'expect') === (of !== undefined), {
    error: 'a name is given with gate and expect, and with nothing else',
  })
export type Threshold = z.output<typeof ThresholdSchema>

export const EvalSchema = z.strictObject({
  version: z.literal(1).default(1),
  name: name.optional().describe("Absent: the file's own"),
  description: z.string().max(2_000).optional(),
  data: DataSchema.describe('The items'),
  ...WHICH,
  inputs: values
    .optional()
    .describe('Run inputs of every variant; absent: the columns that are inputs of the document'),
  variants: z.array(VariantSchema).min(1).max(EVAL_LIMITS.variants),
  gates: z
    .array(ExpectSchema)
    .max(EVAL_LIMITS.expectations)
    .default([])
    .describe('Put behind blocks of every variant and judged in the run, as judges are; they warn'),
  expect: z
    .array(ExpectSchema)
    .max(EVAL_LIMITS.expectations)
    .default([])
    .describe('Judged on outputs when the run has ended'),
  decisions: z
    .enum(['stop', 'approve'])
    .default('stop')
    .describe('When a run asks a person: it is stopped, or approved'),
  concurrency: z.int().min(1).max(EVAL_LIMITS.concurrency).default(4).describe('Runs under way at once'),
  budget: z
    .strictObject({
      usd: z.number().min(0).max(1_000_000).optional(),
      tokens: z.int().min(1).max(1_000_000_000_000).optional(),
    })
    .optional()
    .describe('Of all runs of a round together'),
  thresholds: z.array(ThresholdSchema).max(EVAL_LIMITS.thresholds).default([]),
})
export type Evaluation = z.output<typeof EvalSchema>

/**
 * The evaluation a text holds. Fault InvalidInput bad_eval lists what is wrong with it, each with file, line and column,
 * what was seen and what is allowed.
 */
export function parseEval(text: string, file: string): Evaluation {
  const read = readYaml(text)
  if (!read.ok) throw badEval(file, read.problems, { text, ...read.source })
  const { source } = read
  const parsed = EvalSchema.safeParse(source.value)
  if (!parsed.success) {
    const problems = parsed.error.issues.flatMap((issue) => issueProblems(issue, [], source.value, EvalSchema))
    throw badEval(file, problems, source)
  }
  const problems = wholeProblems(parsed.data)
  if (problems.length > 0) throw badEval(file, problems, source)
  return parsed.data
}

/** What no single key shows. */
function wholeProblems(evaluation: Evaluation): readonly Problem[] {
  const { variants, gates, expect, data } = evaluation
  return [
    ...sameNames(['variants'], variants),
    ...sameNames(['expect'], expect),
    ...(data.items ?? []).flatMap((item, at) => takenNames(['data', 'items', at, 'expect'], item.expect ?? [], expect)),
    ...variants.flatMap((variant, at) => whichProblems(evaluation, variant, at)),
    ...checksProblems(['gates'], gates),
    ...checksProblems(['expect'], expect),
    ...(data.items ?? []).flatMap((item, at) => checksProblems(['data', 'items', at, 'expect'], item.expect ?? [])),
    ...thresholdProblems(evaluation),
  ]
}

function problem(path: Path, text: string, hint?: string): Problem {
  return { code: 'invalid_value', path, say: ({ place }) => ({ text: `${place} ${text}`, hint }) }
}

function sameNames(path: Path, all: readonly { readonly name: string }[]): readonly Problem[] {
  return all.flatMap(({ name: one }, at) => {
    const first = all.findIndex((other) => other.name === one)
    return first === at
      ? []
      : [problem([...path, at, 'name'], `(${quoted(one)}) is the name of number ${first + 1} too`)]
  })
}

/** What is expected of an item alone is called otherwise than what is expected of all. */
function takenNames(path: Path, own: readonly Expect[], all: readonly Expect[]): readonly Problem[] {
  const taken = own.flatMap((one, at) =>
    all.some((other) => other.name === one.name)
      ? [problem([...path, at, 'name'], `(${quoted(one.name)}) is a name of what is expected of every item`)]
      : [],
  )
  return [...sameNames(path, own), ...taken]
}

function whichProblems(evaluation: Evaluation, variant: Variant, at: number): readonly Problem[] {
  const own = [variant.document, variant.example, variant.deployed].filter((one) => one !== undefined).length
  const shared = [evaluation.document, evaluation.example, evaluation.deployed].filter(
    (one) => one !== undefined,
  ).length
  const given = own === 0 ? shared : own
  if (given === 1) return []
  const hint = 'Give one of document (a file), example, deployed: here, or above variants for all.'
  return [problem(['variants', at], given === 0 ? 'names no document' : 'names more than one document', hint)]
}

/** A check whose texts wait for an item is judged when they are there. */
function checksProblems(path: Path, all: readonly Expect[]): readonly Problem[] {
  return all.flatMap(({ check }, at) => {
    // What a gate of the project checks, only its place knows.
    if (JSON.stringify(check).includes('{{') || String(check.type).startsWith('./')) return []
    const parsed = parseCheck(check)
    if (parsed.ok) return []
    return parsed.errors.map(({ path: inner, message, hint }) =>
      problem(
        [...path, at, 'check', ...(inner === '' ? [] : inner.split('.'))],
        `is refused: ${message.replace(/\.$/, '')}`,
        hint,
      ),
    )
  })
}

function thresholdProblems({ thresholds, variants, expect, data }: Evaluation): readonly Problem[] {
  const names = variants.map((variant) => variant.name)
  const expected = [...expect, ...(data.items ?? []).flatMap((item) => item.expect ?? [])].map((one) => one.name)
  return thresholds.flatMap(({ variant, measure, name: of = '' }, at) => [
    ...(variant === undefined || names.includes(variant)
      ? []
      : [
          problem(
            ['thresholds', at, 'variant'],
            `(${quoted(variant)}) is no variant`,
            `There are: ${names.join(', ')}.`,
          ),
        ]),
    ...(measure !== 'expect' || expected.includes(of)
      ? []
      : [problem(['thresholds', at, 'name'], `(${quoted(of)}) is nothing that is expected`)]),
  ])
}

/** At most so many are told at once. */
const TOLD = 20

function badEval(file: string, problems: readonly Problem[], source: Partial<Source>): Fault {
  const place = source.text === undefined ? undefined : lineFinder(source.text)
  const root = source.spot ?? { at: 0 }
  const issues = problems.slice(0, TOLD).map((one): Issue => {
    const path = pathText(one.path)
    const said = one.say({ who: 'the evaluation', place: path === '' ? 'the evaluation' : path })
    const at = one.at ?? locate(root, one.path, one.on ?? 'value')
    return { path, file, ...place?.(at), message: said.text, ...(said.hint === undefined ? {} : { hint: said.hint }) }
  })
  const lines = issues.map(({ message, line, column, hint }) => {
    const at = line === undefined ? '' : `:${line}:${column}`
    return `${file}${at}: ${message}.${hint === undefined ? '' : ` ${hint}`}`
  })
  return new Fault('InvalidInput', 'bad_eval', `Cannot use the evaluation.\n${lines.join('\n')}`, { issues })
}

/** The JSON Schema of the file, for editors. */
export function evalJsonSchema(): object {
  const schema = z.toJSONSchema(EvalSchema, { io: 'input', unrepresentable: 'any' })
  return { ...schema, title: 'An evaluation of Sluice' }
}
