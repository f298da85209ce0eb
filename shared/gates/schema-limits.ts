import * as z from 'zod'
import type { Isolated } from '../ports/isolate.ts'
import type { Json } from '../text/json.ts'

/** Limits of one schema before anything compiles it (docs/limits-and-costs.md). */
const MAX_BYTES = 65_536
const MAX_NODES = 2_000
const MAX_DEPTH = 32
/** Nodes after every `$ref` is put in place: a few references to references double their way past any other limit. */
const MAX_EXPANDED = 20_000

const DRAFT = /^https:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/

/** Why a schema may not be compiled, in words; undefined when it may. Only plain JSON passes. */
export function schemaProblem(schema: unknown): string | undefined {
  const problem = shapeProblem(schema)
  if (problem !== undefined) return problem
  // shapeProblem() has just seen that every member is JSON.
  const json = schema as Json
  const bytes = Buffer.byteLength(JSON.stringify(json))
  if (bytes > MAX_BYTES) return `the schema has ${bytes} bytes, at most ${MAX_BYTES} are allowed`
  const expander: Expander = { root: json, sizes: new Map(), problem: undefined }
  const expanded = expandedSize(json, expander)
  if (expander.problem !== undefined) return expander.problem
  if (expanded <= MAX_EXPANDED) return undefined
  return `the schema's references expand to ${expanded} nodes, at most ${MAX_EXPANDED} are allowed`
}

/** How many nodes a schema has, itself and every member; of one that is inside its budget. */
export function schemaNodes(schema: Json): number {
  if (typeof schema !== 'object' || schema === null) return 1
  return Object.values(schema).reduce<number>((sum, member) => sum + schemaNodes(member), 1)
}

/** Walks without recursion, so that a hostile depth is counted and not felt. */
function shapeProblem(schema: unknown): string | undefined {
  const open: { readonly value: unknown; readonly depth: number }[] = [{ value: schema, depth: 1 }]
  let nodes = 0
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    nodes += 1
    if (nodes + open.length > MAX_NODES) return `the schema has more than ${MAX_NODES} nodes`
    if (next.depth > MAX_DEPTH) return `the schema nests deeper than ${MAX_DEPTH} levels`
    const problem = nodeProblem(next.value, next.depth === 1)
    if (problem !== undefined) return problem
    if (typeof next.value !== 'object' || next.value === null) continue
    for (const value of Object.values(next.value)) open.push({ value, depth: next.depth + 1 })
  }
  return undefined
}

function nodeProblem(value: unknown, isRoot: boolean): string | undefined {
  if (typeof value !== 'object' || value === null) return leafProblem(value)
  if (Array.isArray(value)) return undefined
  if (Object.prototype.toString.call(value) !== '[object Object]') return leafProblem(value)
  for (const [key, member] of Object.entries(value)) {
    const problem = typeof member === 'string' ? keywordProblem(key, member, isRoot) : undefined
    if (problem !== undefined) return problem
  }
  return undefined
}

function leafProblem(value: unknown): string | undefined {
  const isJson = value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)
  return isJson ? undefined : `the schema holds ${String(value).slice(0, 40)}, which is not JSON`
}

function keywordProblem(key: string, value: string, isRoot: boolean): string | undefined {
  const shown = value.slice(0, 80)
  if (key === '$ref') {
    return /^#(?:\/|$)/.test(value) ? undefined : `$ref "${shown}" is not local, write #/$defs/NAME`
  }
  if (key === '$schema' && !DRAFT.test(value)) return `$schema "${shown}" is not draft 2020-12`
  if (key === '$id' && !isRoot) return `$id "${shown}" is allowed at the top only`
  return REFUSED.has(key) ? `${key} "${shown}" is not supported, use $ref with #/$defs/NAME` : undefined
}

const REFUSED = new Set(['$anchor', '$dynamicAnchor', '$dynamicRef', '$recursiveAnchor', '$recursiveRef'])

interface Expander {
  readonly root: Json
  /** `open` while a node is being measured: meeting it again is recursion. */
  readonly sizes: Map<object, number | 'open'>
  problem: string | undefined
}

function expandedSize(node: Json, expander: Expander): number {
  if (typeof node !== 'object' || node === null || expander.problem !== undefined) return 1
  const known = expander.sizes.get(node)
  if (known === 'open') {
    expander.problem = 'the schema refers to itself; recursive schemas are not allowed'
    return 1
  }
  if (known !== undefined) return known
  expander.sizes.set(node, 'open')
  let size = 1
  for (const [key, member] of Object.entries(node)) {
    size += expandedSize(member, expander)
    if (key === '$ref' && typeof member === 'string') size += expandedSize(targetOf(member, expander), expander)
  }
  expander.sizes.set(node, size)
  return size
}

function targetOf(ref: string, expander: Expander): Json {
  let target: Json | undefined = expander.root
  for (const key of ref.split('/').slice(1).map(keyOf)) target = memberOf(target, key)
  if (target !== undefined) return target
  expander.problem ??= `$ref "${ref.slice(0, 80)}" points to nothing`
  return null
}

function keyOf(segment: string): string {
  const plain = segment.replaceAll('~1', '/').replaceAll('~0', '~')
  try {
    return decodeURIComponent(plain)
  } catch {
    return plain
  }
}

function memberOf(value: Json | undefined, key: string): Json | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
  return Array.isArray(value) ? value[Number(key)] : (value as Readonly<Record<string, Json>>)[key]
}

/** A JSON Schema as a gate's parameter: within its budget, not compiled yet (`programs` of its gate). */
export const JsonSchemaParam = z.record(z.string(), z.unknown()).superRefine((schema, context) => {
  const problem = schemaProblem(schema)
  if (problem !== undefined) context.addIssue({ code: 'custom', message: problem })
  // schemaProblem() lets only JSON through.
}) as unknown as z.ZodType<{ readonly [key: string]: Json }>

/** What the Isolate answers for kind `json_schema`: at most five short sentences `/path message` when invalid. */
export type SchemaAnswer = { readonly valid: boolean; readonly errors: readonly string[] }

/** Reads it back on this side of the port; anything else than an answer is not valid. */
export function readSchemaAnswer(
  isolated: Isolated,
): ({ readonly ok: true } & SchemaAnswer) | { readonly ok: false; readonly message: string } {
  if (!isolated.ok) return { ok: false, message: isolated.message }
  const answer = isolated.value
  if (typeof answer !== 'object' || answer === null || !('valid' in answer)) {
    return { ok: false, message: 'the isolate gave no verdict' }
  }
  const errors = 'errors' in answer && Array.isArray(answer.errors) ? answer.errors : []
  return { ok: true, valid: answer.valid === true, errors: errors.filter((error) => typeof error === 'string') }
}
