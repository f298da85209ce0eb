import { Fault } from '../../../shared/errors.ts'
import type { Json } from '../../../shared/text/json.ts'
import type { HandlerCall } from './block-handler.ts'

/**
 * Keeps a value as artifact `name` of the run: bytes and text as they are, the bytes behind an object ref, other values as indented
 * JSON. Of a foreach block each item writes one of its own: item 3 of `out/plan.md` is `out/plan.3.md`.
 */
export async function storeArtifact(
  call: Pick<HandlerCall, 'world' | 'run' | 'block_id' | 'epoch' | 'attempt' | 'item' | 'signal'>,
  given: { readonly name: string; readonly value: Json | Uint8Array; readonly media_type?: string | undefined },
): Promise<{ readonly ref: string; readonly bytes: number }> {
  call.signal.throwIfAborted()
  const { world, run, block_id, epoch, attempt, item } = call
  const name = item === undefined ? given.name : numbered(given.name, item)
  const object = await world.objects.put(run.tenant, await bytesOf(call, given.value))
  call.signal.throwIfAborted()
  const media_type = given.media_type ?? mediaType(name)
  const passed = { ...(epoch === 0 ? {} : { epoch }), ...(item === undefined ? {} : { item }) }
  try {
    await world.runs.putArtifact(run, { name, ...object, media_type, block_id, attempt, ...passed })
  } catch (error) {
    throw unnamed(error, name, object.ref)
  }
  return object
}

/** The record names the body all the same, in why the attempt failed: whoever erases the run finds it there. */
function unnamed(error: unknown, name: string, ref: string): unknown {
  if (!(error instanceof Fault)) return error
  const { name: fault, code, facts, issues, status, message } = error
  const words = `Cannot list artifact "${name}", stored as ${ref}: ${message}`
  return new Fault(fault, code, words, { facts, issues, status, cause: error })
}

async function bytesOf(call: Pick<HandlerCall, 'world' | 'run'>, value: Json | Uint8Array): Promise<Uint8Array> {
  if (value instanceof Uint8Array) return value
  return (await readObjectRef(call, value)) ?? new TextEncoder().encode(textOf(value))
}

/** The name of what an item of a fan-out keeps. */
export function numbered(name: string, item: number): string {
  const [, stem = name, extension = ''] = /^(.*?[^/])(\.[^./]+)?$/.exec(name) ?? []
  return `${stem}.${item}${extension}`
}

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  md: 'text/markdown; charset=utf-8',
  txt: 'text/plain; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
  tsv: 'text/tab-separated-values; charset=utf-8',
  ndjson: 'application/x-ndjson',
  html: 'text/html; charset=utf-8',
  json: 'application/json',
}

export function mediaType(name: string): string {
  return MEDIA_TYPES[name.slice(name.lastIndexOf('.') + 1).toLowerCase()] ?? 'application/octet-stream'
}

function textOf(value: Json): string {
  return typeof value === 'string' ? value : `${JSON.stringify(value, null, 2)}\n`
}

const REF = /^objstore:\/\/[^/\s]+\/[0-9a-f]{64}$/

/**
 * The bytes behind a value that is an object ref, or undefined when it is none. The store refuses another tenant's ref.
 * A text that is exactly a ref is one: values carry no type of their own.
 */
export async function readObjectRef(
  call: Pick<HandlerCall, 'world' | 'run'>,
  value: Json,
): Promise<Uint8Array | undefined> {
  if (typeof value !== 'string' || !REF.test(value)) return undefined
  return call.world.objects.get(call.run.tenant, value)
}
