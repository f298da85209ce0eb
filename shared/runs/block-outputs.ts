import type { Block, Dag, OutputPort } from '../dag/dag.ts'
import type { Json } from '../text/json.ts'
import { isVisible } from '../text/prose.ts'
import {
  type InexactNumber,
  inexactNumbers,
  inexactNumberWords,
  jsonProblem,
  jsonTextProblem,
} from '../text/strict-json.ts'
import { fitsPort } from './block-inputs.ts'

type Ports = Readonly<Record<string, OutputPort>>

/** Output values of one attempt, or one sentence a violation (each names its port). */
interface ContractResult {
  readonly values: Readonly<Record<string, Json>>
  readonly problems: readonly string[]
}

/**
 * Reads an answer's text into output ports: the whole text as a JSON object; else the first ```json fence; else, with
 * a single output port, the raw text (docs/dag.md, "Output"); then the contract is checked.
 */
export function readAnswerOutputs(text: string, declared: Ports): ContractResult {
  if (Object.keys(declared).length === 0) return { values: {}, problems: [] }
  const fenced = fence(text)
  const refused = refusedText(text, fenced, declared)
  if (refused !== undefined) return refused
  const whole = jsonObject(text)
  const read = readPorts(text, whole ?? jsonObject(fenced), declared)
  if (!Object.values(read.values).some(holdsNumbers)) return read
  return unchanged(read, inexactNumbers(whole === undefined && fenced !== '' ? fenced : text))
}

/**
 * What would be parsed and must not be, since everybody else would wait (shared/text/strict-json.ts): every port breaks its contract
 * by it. Text that is taken as it is needs no parser.
 */
function refusedText(text: string, fenced: string, declared: Ports): ContractResult | undefined {
  const ports = Object.entries(writtenPorts(declared))
  const isText = ports.every(([, { type }]) => type === 'string')
  const read = [text, fenced].filter((part) => !isText || part.trimStart().startsWith('{'))
  const problem = read.map((part) => jsonTextProblem(part, 1)).find((found) => found !== undefined)
  if (problem === undefined) return undefined
  const why = `the answer is not parsed, since ${problem.text}`
  return { values: {}, problems: ports.map(([name]) => `port ${name} cannot be read: ${why}`) }
}

function holdsNumbers(value: Json): boolean {
  return typeof value === 'number' || (typeof value === 'object' && value !== null)
}

function readPorts(text: string, object: Readonly<Record<string, Json>> | undefined, declared: Ports): ContractResult {
  const ports = writtenPorts(declared)
  const names = Object.keys(ports)
  const only = names.length === 1 ? names[0] : undefined
  if (object !== undefined && (only === undefined || Object.hasOwn(object, only))) {
    return checkOutputs(withFileTexts(object, declared), ports)
  }
  if (only === undefined) return noObject(ports)
  const port = ports[only]
  const value = port?.type === 'json' && object !== undefined ? object : rawValue(text, port)
  if (port?.type === 'json' && value === text && looksLikeJson(text)) return cutShort(only)
  return checkOutputs({ [only]: value }, ports)
}

/** A number that is another one once it is read (9007199254740993) breaks the contract of every port that holds it. */
function unchanged({ values, problems }: ContractResult, changed: readonly InexactNumber[]): ContractResult {
  if (changed.length === 0) return { values, problems }
  const byValue = new Map(changed.map((one) => [one.becomes, one]))
  const kept: Record<string, Json> = {}
  const wrong = [...problems]
  for (const [name, value] of Object.entries(values)) {
    const held = heldNumber(value, byValue)
    if (held === undefined) kept[name] = value
    else wrong.push(`port ${name} cannot be stored: ${inexactNumberWords(held)}`)
  }
  return { values: kept, problems: wrong }
}

/** Values nest 64 levels at most here: deeper ones have broken the contract already. */
function heldNumber(value: Json, byValue: ReadonlyMap<number, InexactNumber>): InexactNumber | undefined {
  if (typeof value === 'number') return byValue.get(value)
  if (typeof value !== 'object' || value === null) return undefined
  for (const member of Object.values(value)) {
    const held = heldNumber(member, byValue)
    if (held !== undefined) return held
  }
  return undefined
}

/** A model cannot know an object ref: of a file or artifact it writes the text, and whoever stores that makes the ref. */
function writtenPorts(ports: Ports): Ports {
  const written = Object.entries(ports).map(([name, port]) => [name, isFile(port) ? { ...port, type: 'string' } : port])
  return Object.fromEntries(written)
}

/** An object or a list as the value of a file is its JSON text. */
function withFileTexts(object: Readonly<Record<string, Json>>, ports: Ports): Readonly<Record<string, Json>> {
  const texts = Object.entries(object).map(([name, value]) => {
    const port = Object.hasOwn(ports, name) ? ports[name] : undefined
    const isText = isFile(port) && typeof value === 'object' && value !== null && jsonProblem(value) === undefined
    return [name, isText ? `${JSON.stringify(value, null, 2)}\n` : value]
  })
  return Object.fromEntries(texts)
}

function isFile(port: OutputPort | undefined): boolean {
  return port?.type === 'file' || port?.type === 'artifact'
}

/** Several ports and no JSON object to read them from: the ports say so, since a model is told these lines. */
function noObject(ports: Ports): ContractResult {
  const { values, problems } = checkOutputs({}, ports)
  return { values, problems: problems.map((problem) => `${problem}: the answer is no JSON object`) }
}

/** What begins as JSON and does not parse was cut or is malformed; as a text it would go on unseen. */
function cutShort(port: string): ContractResult {
  return { values: {}, problems: [`port ${port} cannot be read: the answer begins as JSON and does not parse`] }
}

function looksLikeJson(text: string): boolean {
  return /^\s*(?:[[{]|```json\b)/.test(text)
}

/** Missing, null or blank required outputs, wrong types and values no hash can be made of, each named; undeclared members are dropped. */
export function checkOutputs(object: Readonly<Record<string, Json>>, ports: Ports): ContractResult {
  const values: Record<string, Json> = {}
  const problems: string[] = []
  for (const [name, port] of Object.entries(ports)) {
    const value = Object.hasOwn(object, name) ? object[name] : undefined
    const problem = portProblem(name, port, value)
    if (problem !== undefined) problems.push(problem)
    else if (value !== undefined && !isBlank(value)) values[name] = value
  }
  return { values, problems }
}

function portProblem(name: string, port: OutputPort, value: Json | undefined): string | undefined {
  if (value === undefined || isBlank(value)) return port.required ? `missing port ${name}` : undefined
  if (fitsPort(port.type, value)) return valueProblem(name, value)
  return `port ${name} must be ${port.type}, got ${Array.isArray(value) ? 'array' : typeof value}`
}

/** What could not be stored under its hash: an answer may hold 1e999, \ud800, or ten thousand brackets. */
function valueProblem(name: string, value: Json): string | undefined {
  const problem = jsonProblem(value)
  return problem === undefined ? undefined : `port ${name} cannot be stored: ${problem.text}`
}

function isBlank(value: Json): boolean {
  return value === null || (typeof value === 'string' && !isVisible(value))
}

function rawValue(text: string, port: OutputPort | undefined): Json {
  if (port?.type === 'json') return parsed(text) ?? parsed(fence(text)) ?? text
  if (port?.type === 'number' || port?.type === 'boolean') return parsed(text.trim()) ?? text
  return text
}

function fence(text: string): string {
  const start = text.indexOf('```json')
  if (start < 0) return ''
  const body = text.indexOf('\n', start)
  const end = body < 0 ? -1 : text.indexOf('```', body)
  return end < 0 ? '' : text.slice(body, end)
}

function jsonObject(text: string): Readonly<Record<string, Json>> | undefined {
  if (!text.trimStart().startsWith('{')) return undefined
  const value = parsed(text)
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, Json>>)
    : undefined
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

/** Where an output of a `mode: dag` block comes from: the first of `sources` whose block completed with that output. */
interface ChildOutput {
  readonly port: string
  readonly required: boolean
  /** As dag.outputs says it: `block.output`. */
  readonly named?: string
  readonly sources: readonly { readonly block: string; readonly output: string }[]
}

/** A port dag.outputs names comes from there; any other from the like-named output of a last block, in document order. */
export function childOutputSources(
  { outputs, dag }: Pick<Extract<Block, { mode: 'dag' }>, 'outputs' | 'dag'>,
  child: Pick<Dag, 'blocks'>,
): readonly ChildOutput[] {
  const inner = new Set(child.blocks.flatMap(({ upstream }) => upstream))
  return Object.entries(outputs).map(([port, { required }]) => {
    const named = Object.hasOwn(dag.outputs, port) ? dag.outputs[port] : undefined
    const [id, output = port] = named?.split('.') ?? []
    const sources = child.blocks
      .filter((block) => (id === undefined ? !inner.has(block.id) : block.id === id))
      .filter((block) => Object.hasOwn(block.outputs, output))
      .map((block) => ({ block: block.id, output }))
    return { port, required, sources, ...(named === undefined ? {} : { named }) }
  })
}
