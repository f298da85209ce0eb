import type { Block, Dag, InputPort, PortType } from '../dag/dag.ts'
import { evaluateExpression, parseExpression } from '../dag/expression.ts'
import { templateReferences } from '../dag/template.ts'
import type { Json } from '../text/json.ts'

/** What an input may be resolved from; `upstream` holds output values by block id, of completed blocks only. */
export interface InputSources {
  readonly overrides: Readonly<Record<string, Json>>
  readonly upstream: Readonly<Record<string, Readonly<Record<string, Json>>>>
  readonly context: Readonly<Record<string, Json>>
  /** What the person who approved the block changed. */
  readonly edits?: Readonly<Record<string, Json>>
}

interface ResolvedInputs {
  readonly values: Readonly<Record<string, Json>>
  /** One sentence a port that is absent or has the wrong type. */
  readonly problems: readonly string[]
}

/**
 * Values of a block's inputs: approver's edit > run override > upstream output > context key of the same name > default
 * > absent (docs/dag.md, "Input"). Run inputs it reads without declaring a port are resolved from the context too.
 */
export function resolveInputs(dag: Dag, block: Block, sources: InputSources): ResolvedInputs {
  const values: Record<string, Json> = {}
  const problems: string[] = []
  for (const [port, declared] of Object.entries(block.inputs)) {
    const value = inputValue(block, port, declared, sources)
    const problem = problemOf(block.id, port, declared, value)
    if (problem !== undefined) problems.push(problem)
    else if (value !== undefined) values[port] = value
  }
  for (const name of runInputsRead(dag, block)) {
    const value = own(sources.context, name) ?? own(dag.inputs, name)?.default
    if (value !== undefined) values[name] = value
  }
  return { values, problems }
}

/** Whether a JSON value is of a port type; file and artifact values are object refs. */
export function fitsPort(type: PortType, value: Json): boolean {
  if (type === 'json') return true
  if (type === 'file' || type === 'artifact') return typeof value === 'string' && value.startsWith('objstore://')
  return typeof value === type && (type !== 'number' || Number.isFinite(value))
}

/** Run inputs and ports a run of this document cannot start without, each once: what was given, a default or an upstream has no value. */
export function missingInputs(
  dag: Dag,
  given: Readonly<Record<string, Json>>,
  overrides: Readonly<Record<string, Json>> = {},
): readonly string[] {
  const context = { ...inputDefaults(dag), ...given }
  const run = Object.entries(dag.inputs).filter(([name, { required }]) => required && !hasValue(context, name))
  const ports = dag.blocks.flatMap(({ id, inputs }) =>
    Object.entries(inputs).filter(([port, { required, from, default: fallback }]) => {
      const isGiven = hasValue(context, port) || hasValue(overrides, `${id}.${port}`)
      return required && from === undefined && fallback === undefined && !isGiven
    }),
  )
  return [...new Set([...run, ...ports].map(([name]) => name))]
}

/** Names that a start may give values for: run inputs, and ports nothing is wired to. */
export function inputNames(dag: Dag): readonly string[] {
  const ports = dag.blocks.flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([port, { from }]) => (from ? [] : [port])),
  )
  return [...new Set([...Object.keys(dag.inputs), ...ports])]
}

/** The values a document's own run inputs have where nobody gives others. */
export function inputDefaults(dag: Dag): Readonly<Record<string, Json>> {
  const defaults: Record<string, Json> = {}
  for (const [name, input] of Object.entries(dag.inputs)) {
    if (input.default !== undefined) defaults[name] = input.default
  }
  return defaults
}

function hasValue(values: Readonly<Record<string, Json>>, key: string): boolean {
  return Object.hasOwn(values, key) && values[key] !== null && values[key] !== undefined
}

function inputValue(block: Block, port: string, declared: InputPort, sources: InputSources): Json | undefined {
  const edit = own(sources.edits ?? {}, port)
  if (edit !== undefined) return edit
  const override = own(sources.overrides, `${block.id}.${port}`)
  if (override !== undefined) return override
  if (declared.from !== undefined) {
    return wiredValue(declared.from, own(sources.upstream, declared.from.block)) ?? declared.default
  }
  return own(sources.context, port) ?? declared.default
}

/**
 * An edge's transform sees `value` and all `outputs` of the source; what it does not know is absent (docs/dag.md,
 * "Edge").
 */
function wiredValue(
  { output, transform }: NonNullable<InputPort['from']>,
  outputs: Readonly<Record<string, Json>> | undefined,
): Json | undefined {
  if (outputs === undefined) return undefined
  const value = own(outputs, output)
  if (transform === undefined) return value
  const parsed = parseExpression(transform)
  if (!parsed.ok) return undefined
  return evaluateExpression(parsed.expression, { outputs, ...(value === undefined ? {} : { value }) })
}

function problemOf(block: string, port: string, declared: InputPort, value: Json | undefined): string | undefined {
  if (value === undefined || value === null) {
    return declared.required ? `input "${block}.${port}" (${declared.type}) has no value` : undefined
  }
  if (fitsPort(declared.type, value)) return undefined
  return `input "${block}.${port}" must be ${declared.type}, got ${Array.isArray(value) ? 'array' : typeof value}`
}

function own<T>(record: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined
}

/**
 * Names of the run inputs a block reads without a port of its own: those any of its prompts, templates, expressions or
 * gates names, as a word; rather one too many than one too few. So a changed run input is a changed input of the blocks
 * that read it, and of no other. Expressions of handlers may read them all, as does a person who is shown all there is.
 */
export function runInputsRead({ inputs }: Pick<Dag, 'inputs'>, block: Block): readonly string[] {
  const names = Object.keys(inputs).filter((name) => !Object.hasOwn(block.inputs, name))
  if (names.length === 0 || block.mode === 'deterministic' || block.approval?.show.length === 0) return names
  const text = textsOf(block).join('\n')
  return names.filter((name) => text.includes(name) && isWordOf(name, text))
}

/** Of an attempt's values those of the ports its block declares: what a handler works on. */
export function portValues({ inputs }: Pick<Block, 'inputs'>, values: Values): Values {
  return onlyThose(values, (name) => Object.hasOwn(inputs, name))
}

/**
 * The same with the item and the list of a foreach block: all but the run inputs that its texts and expressions read
 * besides. What looks for a port by its name finds no run input of that name.
 */
export function ownValues({ blocks }: Pick<Dag, 'blocks'>, { index, inputs }: Block, values: Values): Values {
  const whole = blocks[index]?.inputs ?? {}
  return onlyThose(values, (name) => Object.hasOwn(inputs, name) || Object.hasOwn(whole, name))
}

function onlyThose(values: Values, isMeant: (name: string) => boolean): Values {
  return Object.fromEntries(Object.entries(values).filter(([name]) => isMeant(name)))
}

/** The inputs that templates anywhere in it read by name. */
export function inputsNamedIn(part: unknown): ReadonlySet<string> {
  const references = strings(part).flatMap(templateReferences)
  return new Set(references.flatMap((reference) => (reference.kind === 'input' ? [reference.path[0]] : [])))
}

type Values = Readonly<Record<string, Json>>

/** Everything of a block that may name an input. */
function textsOf(block: Block): readonly string[] {
  const { when = '', approval, pre_gates, post_gates, foreach } = block
  const checks = [...pre_gates, ...post_gates, ...(foreach?.item_gates ?? [])].map(({ check }) => check)
  return [when, ...strings({ ...approval }), ...strings(workOf(block)), ...strings(checks), ...strings(foreach?.items)]
}

function workOf(block: Block): unknown {
  switch (block.mode) {
    case 'ai':
      return block.agent
    case 'dag':
      return block.dag.inputs
    case 'research':
      return block.research
    case 'wait':
      return block.wait
    default:
      return {}
  }
}

function strings(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value as Readonly<Record<string, Json>>).flatMap(strings)
}

function isWordOf(name: string, text: string): boolean {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    const around = [text[at - 1] ?? ' ', text[at + name.length] ?? ' ']
    if (around.every((character) => !/\w/.test(character))) return true
  }
  return false
}
