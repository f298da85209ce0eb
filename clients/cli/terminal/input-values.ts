import * as z from 'zod'
import type { Dag, PortType, RunInput } from '../../../shared/dag/dag.ts'
import { inputDefaults, missingInputs } from '../../../shared/runs/block-inputs.ts'
import type { Json } from '../../../shared/text/json.ts'
import { inexactNumber, inexactNumbers, inexactNumberWords } from '../../../shared/text/strict-json.ts'
import { suggest } from '../../../shared/text/wording.ts'
import { readFile } from './files.ts'
import { askLine } from './prompts.ts'
import { Refused, usageError } from './refused.ts'
import type { Session } from './session.ts'
import { cut, oneLine, plainText } from './text.ts'

interface Given {
  /** `k=v`, as typed. */
  readonly pairs: readonly string[]
  /** Free values of --context-json. */
  readonly context: Readonly<Record<string, Json>>
  /** Run inputs of the document; undefined where only the server has it. */
  readonly declared?: Dag['inputs']
}

/**
 * Sorts what a person gave: a value of a declared run input becomes an input of its type, everything else is free
 * context. Exit code 2 for pairs that cannot be meant.
 */
export function splitRunInputs({ pairs, context, declared = {} }: Given) {
  const inputs: Record<string, Json> = {}
  const free: Record<string, Json> = { ...context }
  for (const [key, value] of readPairs(pairs)) {
    const input = Object.hasOwn(declared, key) ? declared[key] : undefined
    if (input?.declared === true) inputs[key] = typedValue('--input', key, value, input.type ?? 'string')
    else free[key] = value
  }
  return {
    ...(Object.keys(inputs).length > 0 && { inputs }),
    ...(Object.keys(free).length > 0 && { context: free }),
  }
}

/** Names that become free context and are probably typing errors of names this DAG reads. */
export function likelyTypos(pairs: readonly string[], { inputs, blocks }: Dag): readonly string[] {
  const ports = blocks.flatMap((block) => Object.entries(block.inputs).filter(([, { from }]) => from === undefined))
  const reads = new Set([...Object.keys(inputs), ...ports.map(([port]) => port)])
  const given = readPairs(pairs)
  const open = [...reads].filter((name) => !given.has(name))
  return [...given.keys()].flatMap((key) => {
    const near = reads.has(key) ? undefined : suggest(key, open)
    if (near === undefined) return []
    const words = `warning: --input ${key} is no input of this DAG and becomes free context. Did you mean "${near}"?`
    return [plainText(words)]
  })
}

/** Asks for what this document cannot start without, one by one, and answers it as pairs. Asks nobody off a terminal. */
export async function askForMissing(session: Session, dag: Dag, { pairs, context }: Given): Promise<readonly string[]> {
  const given = { ...context, ...Object.fromEntries(readPairs(pairs)) }
  const asked: string[] = []
  if (!session.asks) return asked
  for (const name of missingInputs(dag, given)) asked.push(`${name}=${await askFor(session, name, dag.inputs[name])}`)
  return asked
}

async function askFor(session: Session, name: string, input: RunInput | undefined): Promise<string> {
  const { type = 'string', description = '' } = input ?? {}
  const about = oneLine(description)
  for (;;) {
    const line = await askLine(`${name}${about === '' ? '' : ` (${about})`}: `)
    if (line === undefined)
      throw usageError(`Nothing is started: input "${name}" was not given. --input ${name}=VALUE gives it.`)
    if (line !== '' && isTyped(session, name, line, type)) return line
  }
}

/** Whether this is a value of that type; what is wrong with one that is not has been said. */
function isTyped(session: Session, name: string, line: string, type: PortType): boolean {
  try {
    typedValue('the value', name, line, type)
    return true
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    session.warn(error.message)
    return false
  }
}

/** Says which values of an example are taken as nobody gave others. */
export function takenDefaults(dag: Dag, { pairs, context }: Given): readonly string[] {
  const given = { ...context, ...Object.fromEntries(readPairs(pairs)) }
  const taken = Object.entries(inputDefaults(dag)).filter(([name]) => !Object.hasOwn(given, name))
  if (taken.length === 0) return []
  const words = taken.map(([name, value]) => `${name} ${cut(oneLine(JSON.stringify(value)), 80)}`)
  return [`Taken as the example has it: ${words.join(', ')}. --input KEY=VALUE gives another.`]
}

function readPairs(pairs: readonly string[]): ReadonlyMap<string, string> {
  const read = new Map<string, string>()
  for (const pair of pairs) {
    const equals = pair.indexOf('=')
    const key = pair.slice(0, equals)
    if (equals < 1) throw usageError(`Cannot read --input "${pair}": key=value is needed.`)
    if (/^_|\s/.test(key))
      throw usageError(`Cannot use --input "${key}": a key has no spaces and no leading "_", which is reserved.`)
    if (read.has(key)) throw usageError(`Cannot use --input "${key}" twice: give it once.`)
    read.set(key, pair.slice(equals + 1))
  }
  return read
}

/** `team=growth` as labels; exit code 2 for what cannot be meant. The server says what is wrong with a key or a value. */
export function readLabelPairs(pairs: readonly string[]): Record<string, string> {
  const labels = new Map<string, string>()
  for (const pair of pairs) {
    const equals = pair.indexOf('=')
    const key = pair.slice(0, equals)
    if (equals < 1) throw usageError(`Cannot read the label "${pair}": key=value is needed, as team=growth.`)
    if (labels.has(key)) throw usageError(`Cannot set the label "${key}" twice: give it once.`)
    labels.set(key, pair.slice(equals + 1))
  }
  return Object.fromEntries(labels)
}

/** `--edit port=value` as the decision takes it: values of the type the block declares; exit code 2 for what cannot be meant. */
export function readEdits(
  pairs: readonly string[],
  types: Readonly<Record<string, { readonly type: string }>>,
): Readonly<Record<string, Json>> {
  const edits: Record<string, Json> = {}
  for (const pair of pairs) {
    const equals = pair.indexOf('=')
    const port = pair.slice(0, Math.max(equals, 0))
    if (port === '') throw usageError(`Cannot read --edit "${pair}": port=value is needed.`)
    if (Object.hasOwn(edits, port)) throw usageError(`Cannot use --edit "${port}" twice: give it once.`)
    const type = Object.hasOwn(types, port) ? types[port]?.type : undefined
    // The server knows which ports there are, and says so.
    edits[port] = typedValue('--edit', port, pair.slice(equals + 1), (type ?? 'string') as PortType)
  }
  return edits
}

/** Free values of --context-json: one JSON object. */
export function readContext(path: string | undefined): Readonly<Record<string, Json>> {
  if (path === undefined) return {}
  const parsed = ContextSchema.safeParse(readJson(readFile(path, 'context file'), path))
  if (parsed.success) return parsed.data
  throw usageError(`Cannot use context file "${path}": it must hold one JSON object.`)
}

/** JSON.parse makes JSON values only. */
const ContextSchema = z.record(
  z.string(),
  z.custom<Json>(() => true),
)

function readJson(text: string, path: string): unknown {
  const [changed] = inexactNumbers(text)
  if (changed !== undefined) throw usageError(`Cannot use context file "${path}": ${inexactNumberWords(changed)}.`)
  try {
    return JSON.parse(text)
  } catch (error) {
    throw usageError(`Cannot read context file "${path}" as JSON: ${error instanceof Error ? error.message : error}.`)
  }
}

/** A value as typed, in the type its port has; exit code 2 for what is none. `option` is told: `--input`. */
export function typedValue(option: string, key: string, value: string, type: PortType): Json {
  if (type === 'number') return numberOf(option, key, value)
  if (type === 'boolean') return booleanOf(option, key, value)
  return type === 'json' ? jsonOf(option, key, value) : value
}

function numberOf(option: string, key: string, value: string): number {
  const read = /^-?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$/.test(value) ? Number(value) : Number.NaN
  const changed = Number.isFinite(read) ? inexactNumber(value) : undefined
  if (changed !== undefined) {
    throw usageError(`Cannot use ${option} ${key}: ${inexactNumberWords(changed)}, and declare "${key}" as a string.`)
  }
  if (Number.isFinite(read)) return read
  throw usageError(`Cannot use ${option} ${key}=${value}: the document declares "${key}" as a number.`)
}

function booleanOf(option: string, key: string, value: string): boolean {
  if (value === 'true' || value === 'false') return value === 'true'
  throw usageError(`Cannot use ${option} ${key}=${value}: the document declares "${key}" as a boolean, true or false.`)
}

function jsonOf(option: string, key: string, value: string): Json {
  const [changed] = inexactNumbers(value)
  if (changed !== undefined) throw usageError(`Cannot use ${option} ${key}: ${inexactNumberWords(changed)}.`)
  try {
    return JSON.parse(value)
  } catch (error) {
    throw usageError(
      `Cannot use ${option} ${key}: the document declares it as json, and this is none (${String(error)}).`,
    )
  }
}
