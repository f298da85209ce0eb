import * as z from 'zod'
import { Fault, type Issue } from '../errors.ts'
import { parseCheck } from '../gates/parse-check.ts'
import { RUN_STATES } from '../runs/head.ts'
import type { Problem } from '../text/document-problems.ts'
import { DURATION_RULE, readDuration } from '../text/duration.ts'
import type { Json } from '../text/json.ts'
import { issueProblems } from '../text/schema-issues.ts'
import { lineFinder, locate, type Path, pathText, type Source } from '../text/source-position.ts'
import { didYouMean, listed, quoted, suggest } from '../text/wording.ts'
import { readYaml } from '../text/yaml.ts'

/** A file of cases (docs/testing.md): what is given to a document, what is scripted, and what must come of it. */
const text = z.string()
const json = z.custom<Json>((value) => value !== undefined, 'any JSON value')
const values = z.record(text, json)
const id = z.string().regex(/^[A-Za-z][\w-]{0,63}$/, 'the id of a block')
const port = z
  .string()
  .regex(/^[A-Za-z][\w-]{0,63}\.[A-Za-z][\w-]{0,63}$/, 'a block and its output or gate: `block.name`')
const count = z.int().min(0)
const duration = z
  .custom<string | number>((value) => readDuration(value) !== undefined, DURATION_RULE)
  .transform((given) => readDuration(given) ?? 0)
const texts = z.array(text.min(1)).max(100)

/** A number, or the least and the most it may be. */
const AmountSchema = z.union([
  z.number().min(0),
  z.strictObject({ at_least: z.number().min(0).optional(), at_most: z.number().min(0).optional() }),
])
export type Amount = z.output<typeof AmountSchema>

const FAILURES = ['unavailable', 'throttled', 'timeout', 'refused'] as const

const ANSWER = {
  say: json.optional().describe('What it says: a text, or a value that is said as JSON'),
  calls: z
    .array(z.strictObject({ tool: text.min(1), arguments: z.union([values, text]).optional() }))
    .max(64)
    .optional()
    .describe('Tools it wants called, by the names it is shown'),
  fail: z.enum(FAILURES).optional().describe('It does not answer: how the provider fails'),
  finish_reason: text.optional(),
  tokens_in: count.optional().describe('Absent: a token for four characters'),
  tokens_out: count.optional(),
  usd: z.number().min(0).optional().describe('Absent: 0'),
  takes: duration.optional().describe('Virtual time it takes: 90s, 2m'),
}

const WhenSchema = z.strictObject({
  prompt: text.optional().describe('Stands in the prompt'),
  system: text.optional().describe('Stands in the system text'),
  said: text.optional().describe('Stands in a message of the conversation, or in what a tool gave'),
  model: text.optional().describe('Is the model that is asked'),
  tool: text.optional().describe('Is offered'),
  refused: z.boolean().optional().describe('The prompt tells that an answer was refused'),
})

const ScriptLineSchema = z.strictObject({
  when: WhenSchema.optional().describe('Of what the model is shown; absent: whatever it is'),
  ...ANSWER,
  turns: z
    .array(z.strictObject(ANSWER))
    .min(1)
    .max(200)
    .optional()
    .describe('One answer for each turn of its conversation; the last one for all that follow'),
})
export type ScriptLine = z.output<typeof ScriptLineSchema>
export type ScriptedAnswer = Omit<ScriptLine, 'when' | 'turns'>

const ModelSchema = z.union([
  text,
  z.array(ScriptLineSchema).min(1).max(200),
  z.strictObject({ recording: text.min(1).describe('A file of `sluice run record`, beside this one') }),
])
export type ModelScript = z.output<typeof ModelSchema>

const StepLineSchema = z.strictObject({
  when: z
    .strictObject({ inputs: values.optional(), attempt: z.int().min(1).optional() })
    .optional()
    .describe('Of what the step is given; absent: whatever it is'),
  outputs: values.optional(),
  fail: z
    .strictObject({
      reason: text.min(1),
      code: z
        .string()
        .regex(/^[a-z][a-z0-9_]{0,63}$/, 'small letters, digits and _')
        .default('step_failed'),
      retry: z.boolean().default(false).describe('Another try may help'),
    })
    .optional(),
  usd: z.number().min(0).optional(),
  takes: duration.optional(),
})
export type StepLine = z.output<typeof StepLineSchema>

const ToolSchema = z.strictObject({
  description: text.default('Scripted.'),
  input_schema: values.default({ type: 'object' }),
  answers: z
    .array(
      z.strictObject({
        when: values.optional().describe('Arguments it is called with'),
        result: json.optional(),
        error: text.optional().describe('The tool says that it failed'),
      }),
    )
    .min(1)
    .max(200),
})
export type ToolScript = z.output<typeof ToolSchema>

const DecisionSchema = z.strictObject({
  block: id,
  decision: z.enum(['approve', 'reject', 'waive']),
  by: text.min(1).optional().describe('Who decides, as `ana`; absent: who started the run'),
  feedback: text.min(1).optional(),
  edits: values.optional(),
  tool: text.min(1).optional().describe('Of an agent: only of calls of this tool'),
  after: duration.optional().describe('Virtual time between question and answer'),
  refused: text.optional().describe('The code with which it must be refused, as `not_an_approver`'),
  every: z.boolean().default(false).describe('Answers every question of the block, not the next one'),
})
export type ScriptedDecision = z.output<typeof DecisionSchema>

const EventSchema = z.strictObject({
  name: text.min(1),
  key: text.optional(),
  payload: json.optional(),
  after: duration.optional().describe('Virtual time since the run began'),
})
const CallbackSchema = z.strictObject({ block: id, body: json, after: duration.optional() })

const GIVEN = {
  settings: values.optional().describe('Keys of sluice.yaml that this case has otherwise'),
  models: z
    .record(text, ModelSchema)
    .optional()
    .describe('By provider, or `provider/model`: what a script says. No case asks a model'),
  steps: z
    .record(text, z.array(StepLineSchema).min(1).max(200))
    .optional()
    .describe('By step as the document names it, or by block; others run as they are'),
  tools: z.record(text, ToolSchema).optional().describe('Of MCP servers, as `server.tool`'),
  decisions: z
    .union([z.enum(['approve', 'reject']), z.array(DecisionSchema).max(200)])
    .optional()
    .describe('Of every question, or one by one in order; a question nobody answers waits until its time is over'),
  events: z.array(EventSchema).max(100).optional(),
  callbacks: z.array(CallbackSchema).max(100).optional(),
}

const BLOCK_STATES = ['completed', 'failed', 'skipped', 'cancelled', 'pending', 'retrying', 'paused_approval'] as const
const GATE_STATUSES = ['passed', 'failed', 'error', 'waived'] as const

const MatcherSchema = z.strictObject({
  equals: json.optional(),
  contains: z.union([text, texts]).optional(),
  schema: values.optional().describe('JSON Schema'),
  gates: z.array(values).max(50).optional().describe('Checks of any gate type; without `port` they look at the value'),
  absent: z.boolean().optional(),
})
export type Matcher = z.output<typeof MatcherSchema>
const OutputSchema = z.union([text, z.number(), z.boolean(), z.null(), z.array(json), MatcherSchema])
export type ExpectedOutput = z.output<typeof OutputSchema>

const ExpectSchema = z.strictObject({
  refused: text.optional().describe('The start is refused with this code, as `missing_input`'),
  status: z.enum(RUN_STATES).optional(),
  code: text.optional().describe('Why it ended so'),
  reason: text.optional().describe('Stands in the reason of its end'),
  final_status: text.optional().describe('What trust, quality and goal gates made of it'),
  blocks: z.record(id, z.enum(BLOCK_STATES)).optional(),
  gates: z
    .record(port, z.union([z.enum(GATE_STATUSES), z.array(z.enum(GATE_STATUSES))]))
    .optional()
    .describe('The newest verdict, or all of them in order'),
  outputs: z.record(port, OutputSchema).optional(),
  artifacts: z.record(text, OutputSchema).optional().describe('By name, as text'),
  asked: z.record(id, AmountSchema).optional().describe('How often people were asked'),
  attempts: z.record(id, AmountSchema).optional(),
  calls: z
    .strictObject({
      models: z.record(text, AmountSchema).optional().describe('By provider, `provider/model`, or `all`'),
      steps: z.record(text, AmountSchema).optional().describe('By step, or `all`'),
      tools: z.record(text, AmountSchema).optional().describe('Of agents, by tool as the document has it, or `all`'),
    })
    .optional(),
  cost: z.strictObject({ usd: AmountSchema.optional(), tokens: AmountSchema.optional() }).optional(),
  waited: duration.optional().describe('At most so much virtual time'),
})
export type Expected = z.output<typeof ExpectSchema>

const MustNotSchema = z.strictObject({
  start: z.array(id).max(100).optional().describe('Blocks that must not begin'),
  ask: z.array(id).max(100).optional().describe('Blocks of which nobody may be asked'),
  call: texts.optional().describe('Providers, steps and tools that must not be called'),
  show: texts.optional().describe('Texts that no model may be shown'),
  output: texts.optional().describe('Texts that stand in no output and no artifact'),
})
export type MustNot = z.output<typeof MustNotSchema>

const CaseSchema = z.strictObject({
  name: text.min(1).max(200),
  skip: text.min(1).optional().describe('Why it is not run'),
  inputs: values.optional(),
  context: values.optional(),
  ...GIVEN,
  expect: ExpectSchema.optional(),
  must_not: MustNotSchema.optional(),
})
export type TestCase = z.output<typeof CaseSchema>

const CaseFileSchema = z.strictObject({
  dag: text.min(1).describe('A document of this project by name, or a file beside this one that ends in .yaml'),
  ...GIVEN,
  inputs: values.optional(),
  cases: z.array(CaseSchema).min(1).max(1_000),
})
export type CaseFile = z.output<typeof CaseFileSchema>

/**
 * The cases of a text, each with what stands above all of them. Fault InvalidInput bad_cases lists what is wrong, each with
 * file, line and column, the value seen, those allowed, and the name that was probably meant.
 */
export function parseCases(given: string, file: string): { readonly dag: string; readonly cases: readonly TestCase[] } {
  const read = readYaml(given)
  if (!read.ok) throw badCases(file, read.problems, { text: given, ...read.source })
  const { source } = read
  const parsed = CaseFileSchema.safeParse(source.value)
  const problems = parsed.success
    ? wholeProblems(parsed.data)
    : parsed.error.issues.flatMap((issue) => caseProblems(issue, source))
  if (problems.length > 0 || !parsed.success) throw badCases(file, problems, source)
  const { dag, cases, ...above } = parsed.data
  return { dag, cases: cases.map((one) => withAbove(above, one)) }
}

/** What a case says of a model, a step, a tool goes before what stands above; its decisions and events are its own. */
function withAbove(above: Omit<CaseFile, 'dag' | 'cases'>, one: TestCase): TestCase {
  const together = { ...above, ...one }
  const merged = (['inputs', 'settings', 'models', 'steps', 'tools'] as const).flatMap((key) =>
    above[key] === undefined ? [] : [[key, { ...above[key], ...one[key] }] as const],
  )
  return { ...together, ...Object.fromEntries(merged) }
}

/** Of a union, what is wrong with the form that was meant: the one whose problems lie deepest. */
function caseProblems(issue: z.core.$ZodIssue, source: Source): readonly Problem[] {
  if (issue.code !== 'invalid_union' || issue.errors.length === 0) {
    const base = issue.path.filter((part) => typeof part !== 'symbol')
    return issueProblems({ ...issue, path: [] }, base, valueAt(source.value, base), schemaAt(base))
  }
  const forms = issue.errors.map((form) => form.map((one) => ({ ...one, path: [...issue.path, ...one.path] })))
  const deep = (form: readonly z.core.$ZodIssue[]) => Math.max(0, ...form.map(depthOf))
  const [best = []] = forms.toSorted((a, b) => deep(b) - deep(a) || a.length - b.length)
  return best.flatMap((one) => caseProblems(one, source))
}

/** A key nobody knows lies in a form that was recognised. */
function depthOf(issue: z.core.$ZodIssue): number {
  return issue.path.length + (issue.code === 'unrecognized_keys' ? 1 : 0)
}

/** The schema of a place, records and unions included: of several forms the one that has keys. */
function schemaAt(path: Path): unknown {
  const step = (forms: readonly unknown[], part: string | number) =>
    forms.flatMap((form) => memberOf(form, part).flatMap(formsOf))
  const forms = path.reduce<readonly unknown[]>(step, [CaseFileSchema])
  return forms.find((form) => form instanceof z.ZodObject) ?? forms[0]
}

function valueAt(value: Json, path: Path): Json | undefined {
  return path.reduce<Json | undefined>((seen, part) => {
    if (typeof seen !== 'object' || seen === null) return undefined
    return Object.entries(seen).find(([key]) => key === String(part))?.[1]
  }, value)
}

function formsOf(schema: unknown): readonly unknown[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) return formsOf(schema.unwrap())
  return schema instanceof z.ZodUnion ? schema.options.flatMap(formsOf) : [schema]
}

function memberOf(schema: unknown, part: string | number): readonly unknown[] {
  if (schema instanceof z.ZodArray && typeof part === 'number') return [schema.element]
  if (schema instanceof z.ZodRecord) return [schema.valueType]
  const member: unknown = schema instanceof z.ZodObject ? schema.shape[String(part)] : undefined
  return member === undefined ? [] : [member]
}

/** What no single key shows. */
function wholeProblems({ cases, models, steps }: CaseFile): readonly Problem[] {
  return [
    ...scriptProblems([], { models, steps }),
    ...cases.flatMap((one, at) => [
      ...sameName(cases, one, at),
      ...scriptProblems(['cases', at], one),
      ...gateProblems(['cases', at, 'expect'], one.expect),
    ]),
  ]
}

function problem(path: Path, said: string, hint?: string): Problem {
  return { code: 'invalid_value', path, say: ({ place }) => ({ text: `${place} ${said}`, hint }) }
}

function sameName(cases: readonly TestCase[], { name }: TestCase, at: number): readonly Problem[] {
  const first = cases.findIndex((other) => other.name === name)
  if (first === at) return []
  return [problem(['cases', at, 'name'], `is ${quoted(name)}, the name of case ${first + 1} too`, 'Name it otherwise.')]
}

function scriptProblems(path: Path, { models = {}, steps = {} }: Pick<TestCase, 'models' | 'steps'>) {
  const ofModels = Object.entries(models).flatMap(([name, script]) =>
    Array.isArray(script) ? script.flatMap((line, at) => answerProblems([...path, 'models', name, at], line)) : [],
  )
  const ofSteps = Object.entries(steps).flatMap(([name, lines]) =>
    lines.flatMap((line, at) => oneOf([...path, 'steps', name, at], line, ['outputs', 'fail'])),
  )
  return [...ofModels, ...ofSteps]
}

function answerProblems(path: Path, line: ScriptLine): readonly Problem[] {
  const { turns } = line
  if (turns === undefined) return saysSomething(path, line)
  const more = ['say', 'calls', 'fail'].filter((key) => Object.hasOwn(line, key))
  const twice = more.length === 0 ? [] : [problem(path, `has turns and ${listed(more)}`, 'Give one of them.')]
  return [...twice, ...turns.flatMap((turn, at) => saysSomething([...path, 'turns', at], turn))]
}

function saysSomething(path: Path, { say, calls, fail }: ScriptedAnswer): readonly Problem[] {
  const said = say !== undefined || calls !== undefined
  if (said !== (fail !== undefined)) return []
  const seen = said ? 'answers and fails' : 'neither answers nor fails'
  return [problem(path, seen, 'Give say, calls or both, or fail alone.')]
}

function oneOf(path: Path, line: StepLine, keys: readonly ('outputs' | 'fail')[]): readonly Problem[] {
  const given = keys.filter((key) => line[key] !== undefined).length
  return given === 1 ? [] : [problem(path, `has ${given} of ${listed(keys)}`, 'Give exactly one of them.')]
}

function gateProblems(path: Path, { outputs = {}, artifacts = {} }: Expected = {}): readonly Problem[] {
  return Object.entries({ outputs, artifacts }).flatMap(([kind, expected]) =>
    Object.entries(expected).flatMap(([name, one]) =>
      matcherOf(one).gates.flatMap((check, at) => checkProblems([...path, kind, name, 'gates', at], check)),
    ),
  )
}

function checkProblems(path: Path, check: Readonly<Record<string, Json>>): readonly Problem[] {
  // What a gate of the project checks, only its place knows.
  if (String(check.type).startsWith('./')) return []
  const parsed = parseCheck(withValuePort(check))
  if (parsed.ok) return []
  return parsed.errors.map(({ path: inner, message, hint }) =>
    problem([...path, ...(inner === '' ? [] : inner.split('.'))], `is refused: ${message.replace(/\.$/, '')}`, hint),
  )
}

/** Where an expected output's value stands for checks that name no port. */
export const VALUE_PORT = 'value'

/** The check, looking at the value where its type has a port and it names none. */
export function withValuePort(check: Readonly<Record<string, Json>>): Readonly<Record<string, Json>> {
  const looking = { port: VALUE_PORT, ...check }
  const parsed = parseCheck(looking)
  const isRefused = !parsed.ok && parsed.errors.some(({ path }) => path === 'port')
  return isRefused ? check : looking
}

/** What is asked of an output: a plain value is one that must be equal. */
export function matcherOf(expected: ExpectedOutput): Matcher & {
  readonly gates: NonNullable<Matcher['gates']>
} {
  const isPlain = typeof expected !== 'object' || expected === null || Array.isArray(expected)
  return isPlain ? { equals: expected, gates: [] } : { ...expected, gates: expected.gates ?? [] }
}

/** At most so many are told at once. */
const TOLD = 20

function badCases(file: string, problems: readonly Problem[], source: Partial<Source>): Fault {
  const place = source.text === undefined ? undefined : lineFinder(source.text)
  const root = source.spot ?? { at: 0 }
  const issues = problems.slice(0, TOLD).map((one): Issue => {
    const path = pathText(one.path)
    const said = one.say({ who: 'the file', place: path === '' ? 'the file' : path })
    const at = one.at ?? locate(root, one.path, one.on ?? 'value')
    return { path, file, ...place?.(at), message: said.text, ...(said.hint === undefined ? {} : { hint: said.hint }) }
  })
  throw casesFault(issues)
}

/** One line a problem: `tests/refund.yaml:4:7: what was seen. What to do.` */
function casesFault(issues: readonly Issue[]): Fault {
  const lines = issues.map(({ file, message, line, column, hint }) => {
    const at = line === undefined ? '' : `:${line}:${column}`
    return `${file}${at}: ${message}.${hint === undefined ? '' : ` ${hint}`}`
  })
  return new Fault('InvalidInput', 'bad_cases', `Cannot use the cases.\n${lines.join('\n')}`, { issues })
}

/** Names of a case that its document does not have: a case that expects nothing of what is there would pass for ever. */
export interface KnownNames {
  readonly blocks: readonly string[]
  /** `block.port` and `block.gate`. */
  readonly outputs: readonly string[]
  readonly gates: readonly string[]
  readonly inputs: readonly string[]
}

/** Of a case, what is judged and what names parts of the document. */
export interface WantedCase extends Pick<TestCase, 'inputs' | 'callbacks' | 'expect' | 'must_not'> {
  readonly decisions?: 'approve' | 'reject' | readonly ScriptedDecision[] | undefined
}

/** Places of the case that name what its document does not have, in words. */
export function unknownNames(one: WantedCase, known: KnownNames): readonly string[] {
  const { expect = {}, must_not = {}, decisions } = one
  const asked = typeof decisions === 'string' ? [] : (decisions ?? []).map(({ block }) => block)
  const places: readonly (readonly [string, readonly string[], readonly string[]])[] = [
    ['inputs', Object.keys(one.inputs ?? {}), known.inputs],
    ['decisions', asked, known.blocks],
    ['callbacks', (one.callbacks ?? []).map(({ block }) => block), known.blocks],
    ['expect.blocks', Object.keys(expect.blocks ?? {}), known.blocks],
    ['expect.asked', Object.keys(expect.asked ?? {}), known.blocks],
    ['expect.attempts', Object.keys(expect.attempts ?? {}), known.blocks],
    ['expect.gates', Object.keys(expect.gates ?? {}), known.gates],
    ['expect.outputs', Object.keys(expect.outputs ?? {}), known.outputs],
    ['must_not.start', must_not.start ?? [], known.blocks],
    ['must_not.ask', must_not.ask ?? [], known.blocks],
  ]
  return places.flatMap(([place, names, allowed]) =>
    names
      .filter((name) => !allowed.includes(name))
      .map((name) => {
        const near = didYouMean(suggest(name, allowed))
        return `${place} names ${quoted(name)}, which the document does not have; there are ${listed(allowed)}.${near === undefined ? '' : ` ${near}`}`
      }),
  )
}

/** The JSON Schema of a file of cases, for editors. */
export function casesSchema(): object {
  const schema = z.toJSONSchema(CaseFileSchema, { io: 'input', unrepresentable: 'any' })
  return { ...schema, title: 'Test cases of a Sluice document' }
}
