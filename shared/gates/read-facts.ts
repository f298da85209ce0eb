import * as z from 'zod'
import type { Block, PortType } from '../dag/dag.ts'
import { canonicalJson, type Json } from '../text/json.ts'
import type { QuoteSource } from '../text/verbatim-quotes.ts'
import type { CheckResult, GateFacts, Held } from './gate.ts'

/** The value of a port: outputs win over inputs of the same name; `undefined` = the port has none. */
export function readPort(facts: Pick<GateFacts, 'inputs' | 'outputs'>, port: string): Json | undefined {
  if (Object.hasOwn(facts.outputs, port)) return facts.outputs[port]
  return Object.hasOwn(facts.inputs, port) ? facts.inputs[port] : undefined
}

/** The value of a port as it was published: of a file or artifact its object ref, of any other what readPort() gives. */
export function readPortRef(facts: Pick<GateFacts, 'inputs' | 'outputs' | 'refs'>, port: string): Json | undefined {
  const { refs = {} } = facts
  return Object.hasOwn(refs, port) ? refs[port] : readPort(facts, port)
}

/** Why a value can pass no gate, in words; undefined when it may be looked at. */
export function unusableReason(port: string, value: Json | undefined): string | undefined {
  if (value === undefined) return `missing port ${port}`
  if (value === null) return `missing port ${port}: its value is null`
  if (typeof value === 'number' && !Number.isFinite(value)) return `port ${port} is ${value}, not a finite number`
  return undefined
}

/** What a value is to a port's type; a list or an object is none of it. */
export function heldTypes(value: Json): readonly Held[] {
  const held = HELD[typeof value]
  return held === undefined ? [] : [held]
}

const HELD: Readonly<Record<string, Held>> = { string: 'text', number: 'number', boolean: 'boolean' }

/** The answer of a check whose port has a type it does not read. */
export function wrongTypeResult(port: string, wanted: string, value: Json | undefined): CheckResult {
  const seen = typeName(value)
  const reason = unusableReason(port, value) ?? `port ${port} must be ${wanted}, is ${seen}`
  return { passed: false, unfit: true, reason, facts: { port, seen } }
}

function typeName(value: Json | undefined): string {
  if (value === undefined) return 'missing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  return TYPE_NAMES[typeof value] ?? typeof value
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  boolean: 'a boolean',
  object: 'an object',
}

/** A port a gate reads; that it exists on the block is checked with the document. */
export const PortNameSchema = z.string().max(200).regex(/^\S+$/, 'a port name has letters and no spaces')

/** The text of a port, or the answer of a check that cannot read it: another type, or more bytes than it reads. */
export function readPortText(
  facts: GateFacts,
  port: string,
  most: number,
): { readonly text: string } | { readonly unfit: CheckResult } {
  const text = readPort(facts, port)
  if (typeof text !== 'string') return { unfit: wrongTypeResult(port, 'text', text) }
  const bytes = text.length > most ? text.length : Buffer.byteLength(text)
  return bytes > most ? { unfit: tooLargeResult(port, most) } : { text }
}

/** The answer of a check whose port holds more than it reads: refused, not cut. */
export function tooLargeResult(port: string, most: number): CheckResult {
  const reason = `port ${port} must have at most ${most} bytes of text, has more`
  return { passed: false, unfit: true, reason, facts: { port, most } }
}

/**
 * The facts in which a port that holds no text has its canonical JSON text: how gates named port_.. look at it. `empty` is
 * the text of a list or object without members, where that is another one.
 */
export function withPortText(facts: GateFacts, port: string, empty?: string): GateFacts {
  const text = canonicalText(readPort(facts, port) ?? null, empty)
  return text === undefined ? facts : { ...facts, outputs: { ...facts.outputs, [port]: text } }
}

/** undefined: it is a text, is missing, or holds what is no JSON (NaN), and stays what it is. */
function canonicalText(value: Json, empty?: string): string | undefined {
  if (value === null || typeof value === 'string') return undefined
  if (empty !== undefined && typeof value === 'object' && Object.keys(value).length === 0) return empty
  try {
    return canonicalJson(value)
  } catch {
    return undefined
  }
}

/** Bytes of text the safety gates read in one port: all their patterns together take about 200 ms. */
export const MAX_SAFETY_BYTES = 1_048_576
/** Values looked at, so that a list of a million empty lists is refused too. */
const MAX_VALUES = 100_000

/**
 * Every text, number and key of a value in document order; a text or number below a key stands as `key: value`. A text
 * is itself. Without recursion, so no depth breaks it; undefined = more than `most` bytes or 100,000 values.
 */
export function textsIn(value: Json | undefined, most = MAX_SAFETY_BYTES): readonly string[] | undefined {
  const texts: string[] = []
  const open: { readonly key: string; readonly value: Json | undefined }[] = [{ key: '', value }]
  let left = most
  for (let seen = 0; open.length > 0; seen += 1) {
    const next = open.pop()
    if (next === undefined || seen > MAX_VALUES) return undefined
    const text = memberText(next.key, next.value)
    // Cheap first: the bytes of a huge text are not counted.
    if (text.length > left) return undefined
    left -= Buffer.byteLength(text)
    if (left < 0) return undefined
    if (text !== '') texts.push(text)
    for (const member of membersOf(next.value)) open.push(member)
  }
  return texts
}

function memberText(key: string, value: Json | undefined): string {
  const own = typeof value === 'string' || typeof value === 'number' ? String(value) : ''
  return key === '' ? own : `${key}: ${own}`
}

/** Last first: they are taken from the end. */
function membersOf(value: Json | undefined): { readonly key: string; readonly value: Json | undefined }[] {
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value))
    return value
      .slice(0, MAX_VALUES + 1)
      .map((item) => ({ key: '', value: item }))
      .reverse()
  return Object.entries(value)
    .map(([key, member]) => ({ key, value: member }))
    .reverse()
}

/** Bytes of evidence one grounding gate reads: about 100 ms. */
const MAX_BYTES = 2_097_152
const MAX_ITEMS = 10_000

/**
 * The evidence of a port: a list of {id, text} (other members are not looked at), of texts, or of what a research block
 * found, or one text. A text's id is its place in the list, counted from 1, as `[n]` cites it; what research found is
 * known by that, by its entity and by its object ref.
 */
export function readPortEvidence(
  facts: GateFacts,
  port: string,
): { readonly sources: readonly QuoteSource[] } | { readonly unfit: CheckResult } {
  const value = readPort(facts, port)
  const items = typeof value === 'string' ? [value] : value
  if (!Array.isArray(items)) return { unfit: wrongTypeResult(port, 'evidence (a list of {id, text})', value) }
  if (items.length > MAX_ITEMS) return refused(port, `must have at most ${MAX_ITEMS} items, has ${items.length}`)
  const sources: QuoteSource[] = []
  let left = MAX_BYTES
  for (const [place, item] of items.entries()) {
    const [source, ...names] = sourcesOf(item, place)
    if (source === undefined) return refused(port, `must be a list of {id, text}, item ${place + 1} is none`)
    left -= source.text.length > left ? source.text.length : Buffer.byteLength(source.text)
    if (left < 0) return { unfit: tooLargeResult(port, MAX_BYTES) }
    sources.push(source, ...names)
  }
  return sources.length === 0 ? refused(port, 'must be evidence, is empty') : { sources }
}

/** The same text under each of its names. */
function sourcesOf(item: Json | undefined, place: number): readonly QuoteSource[] {
  if (typeof item === 'string') return [{ id: String(place + 1), text: item }]
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return []
  const { id, entity_id, snippet_text, text = snippet_text, objectstore_ref } = item as Readonly<Record<string, Json>>
  if (id === undefined && typeof entity_id === 'string') return foundBy(place, [entity_id, objectstore_ref], text)
  if (typeof text !== 'string') return []
  if (typeof id === 'string' && id !== '' && id.length <= 300) return [{ id, text }]
  return Number.isSafeInteger(id) ? [{ id: String(id), text }] : []
}

function foundBy(place: number, refs: readonly (Json | undefined)[], text: Json = ''): readonly QuoteSource[] {
  if (typeof text !== 'string') return []
  const names = refs.filter((ref): ref is string => typeof ref === 'string' && ref !== '')
  return [String(place + 1), ...names].map((name) => ({ id: name, text }))
}

function refused(port: string, why: string): { readonly unfit: CheckResult } {
  return { unfit: { passed: false, unfit: true, reason: `port ${port} ${why}`, facts: { port } } }
}

/** A value that is exactly the ref of an object. */
export const OBJECT_REF = /^objstore:\/\/[^/\s]+\/[0-9a-f]{64}$/

/** The bytes behind an object ref; undefined = there is no such object. */
export type ReadObject = (ref: string) => Promise<Uint8Array | undefined>

type Ports = Readonly<Record<string, { readonly type: PortType }>>
type Values = Readonly<Record<string, Json>>

/**
 * What gates look at: of a port of type file or artifact the text behind its ref, since authors write about the text. The
 * refs stay beside it for the few kinds that ask about the object itself (artifact_exists, port_type). Bytes that are no
 * UTF-8 are read with replacement characters. A port whose object is gone has no text, and no gate about it passes.
 */
export async function withFileTexts(
  block: Pick<Block, 'inputs' | 'outputs'>,
  facts: GateFacts,
  read: ReadObject,
): Promise<GateFacts> {
  const inputs = refsOf(block.inputs, facts.inputs)
  const outputs = refsOf(block.outputs, facts.outputs)
  if (inputs.length + outputs.length === 0) return facts
  return {
    ...facts,
    inputs: await textsFor(facts.inputs, inputs, read),
    outputs: await textsFor(facts.outputs, outputs, read),
    refs: Object.fromEntries([...inputs, ...outputs]),
  }
}

function refsOf(ports: Ports, values: Values): readonly (readonly [string, string])[] {
  return Object.entries(ports).flatMap(([port, { type }]) => {
    const value = Object.hasOwn(values, port) ? values[port] : undefined
    const isFile = type === 'file' || type === 'artifact'
    return isFile && typeof value === 'string' && OBJECT_REF.test(value) ? [[port, value] as const] : []
  })
}

async function textsFor(
  values: Values,
  refs: readonly (readonly [string, string])[],
  read: ReadObject,
): Promise<Record<string, Json>> {
  const seen: Record<string, Json> = { ...values }
  for (const [port, ref] of refs) {
    const bytes = await read(ref)
    if (bytes === undefined) delete seen[port]
    else seen[port] = new TextDecoder().decode(bytes)
  }
  return seen
}
