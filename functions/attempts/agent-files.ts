import type { Block, PortType } from '../../shared/dag/dag.ts'
import { Fault } from '../../shared/errors.ts'
import { OBJECT_REF, type ReadObject } from '../../shared/gates/read-facts.ts'
import { LIMITS } from '../../shared/limits.ts'
import { fileWords } from '../../shared/prompts/block.ts'
import type { MessageFile } from '../../shared/providers/provider.ts'
import type { Json } from '../../shared/text/json.ts'
import { binaryMediaType } from '../../shared/text/media-type.ts'
import { jsonTextProblem } from '../../shared/text/strict-json.ts'
import type { Dispatch } from './attempt-outcome.ts'
import type { BlockCall } from './block-call.ts'
import { storeArtifact } from './handlers/store-artifact.ts'

/**
 * Files between agents: a model reads and writes text and knows no object refs, while a port of type file or artifact
 * holds one. Its answer's text is stored as an artifact of the run and the port gets the ref; the next model is told the
 * text again (shared/gates/read-facts.ts).
 */
export async function storeAnswerFiles(
  call: BlockCall,
  outputs: Block['outputs'],
  answered: Readonly<Record<string, Json>>,
  { attempt, signal, values: inputs }: Omit<Dispatch, 'lease'>,
): Promise<Readonly<Record<string, Json>>> {
  const stored: Record<string, Json> = { ...answered }
  const { world, storage, run, block, epoch, item } = call
  const place = { world, run, block_id: block.id, epoch, attempt, signal, ...(item === undefined ? {} : { item }) }
  const files = Object.entries(outputs).flatMap(([port, { type }]) => {
    const text = Object.hasOwn(answered, port) ? answered[port] : undefined
    if (!isFile(type) || typeof text !== 'string' || isHandedOn(block, inputs, text)) return []
    const name = `${block.id}/${port}${extensionOf(port, text)}`
    return [{ port, name, value: new TextEncoder().encode(text) }]
  })
  if (files.length > 0) await storage.requireRoom(files.reduce((sum, { value }) => sum + value.byteLength, 0))
  for (const { port, name, value } of files) stored[port] = (await storeArtifact(place, { name, value })).ref
  return stored
}

/** A block's values as a model is told them, and the files among them that are no text: those go beside the prompt. */
export interface ToldValues {
  readonly values: Readonly<Record<string, Json>>
  readonly files: readonly MessageFile[]
}

/**
 * No model sees an object ref. A file that is text is told as its text; of any other the prompt names it (`fileWords`), and
 * its bytes go along. A file is what a port, or a run input, of type file or artifact holds, an item of a fan-out that is a
 * ref, and each member of a list of refs. One whose object is gone has no value.
 */
export async function toldValues(call: BlockCall, values: Dispatch['values']): Promise<ToldValues> {
  const told: Record<string, Json> = {}
  const files: MessageFile[] = []
  // In the order of their names: the same files are the same prompt, wherever their values come from.
  for (const [name, value] of Object.entries(values).toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const refs = holdsFiles(call, name) ? refsIn(value) : undefined
    const words = refs === undefined ? value : await tellRefs(call, files, name, refs)
    if (words !== undefined) told[name] = words
  }
  return { values: told, files }
}

async function tellRefs(
  call: BlockCall,
  files: MessageFile[],
  name: string,
  refs: string | readonly string[],
): Promise<Json | undefined> {
  if (typeof refs === 'string') return tellRef(call, files, name, refs)
  const all: string[] = []
  for (const [at, ref] of refs.entries()) all.push((await tellRef(call, files, `${name}[${at}]`, ref)) ?? GONE)
  return all
}

const GONE = 'a file that is gone'

async function tellRef(call: BlockCall, files: MessageFile[], name: string, ref: string): Promise<string | undefined> {
  const bytes = await objectReader(call)(ref)
  if (bytes === undefined) return undefined
  const media_type = binaryMediaType(bytes)
  if (media_type === undefined) return new TextDecoder().decode(bytes)
  const file = { name, media_type, bytes }
  files.push(file)
  return fileWords(file)
}

/** A ref, or a list of nothing but refs. */
function refsIn(value: Json): string | readonly string[] | undefined {
  const isRef = (one: Json): one is string => typeof one === 'string' && OBJECT_REF.test(one)
  if (isRef(value)) return value
  return Array.isArray(value) && value.length > 0 && value.every(isRef) ? value : undefined
}

/** Text that looks like a ref stays text. */
function holdsFiles({ dag, block }: BlockCall, name: string): boolean {
  const type = block.inputs[name]?.type ?? dag.inputs[name]?.type
  return type !== undefined && (isFile(type) || type === 'json')
}

/** Faults InvalidInput too_many_model_files, model_file_too_large: before anything is paid for. */
export function refuseTooMuch({ block }: Pick<BlockCall, 'block'>, files: readonly MessageFile[]): void {
  const { model_files, model_file_bytes, model_files_bytes } = LIMITS
  if (files.length > model_files) {
    const message = `Cannot show ${files.length} files to the model of block "${block.id}": ${model_files} may go with one prompt. Give it fewer, or let a foreach show one each.`
    throw new Fault('InvalidInput', 'too_many_model_files', message)
  }
  const large = files.find(({ bytes }) => bytes.byteLength > model_file_bytes)
  const all = files.reduce((sum, { bytes }) => sum + bytes.byteLength, 0)
  if (large === undefined && all <= model_files_bytes) return
  const seen =
    large === undefined ? `the files have ${all} bytes` : `"${large.name}" has ${large.bytes.byteLength} bytes`
  const message = `Cannot show files to the model of block "${block.id}": ${seen}; ${model_file_bytes} of one and ${model_files_bytes} of all are allowed. Give it smaller ones, or their text.`
  throw new Fault('InvalidInput', 'model_file_too_large', message)
}

/** The object behind a ref; undefined where it is gone or is nobody's: what is only unreachable now throws. */
export function objectReader({ world, run }: Pick<BlockCall, 'world' | 'run'>): ReadObject {
  return async (ref) => {
    try {
      return await world.objects.get(run.tenant, ref)
    } catch (error) {
      if (error instanceof Fault && error.name !== 'Unavailable') return undefined
      throw error
    }
  }
}

function isFile(type: PortType): boolean {
  return type === 'file' || type === 'artifact'
}

/** A tool that answers with one of the block's own files passes it on; any other ref in an answer is only text. */
function isHandedOn({ inputs }: Block, values: Dispatch['values'], text: string): boolean {
  return Object.entries(inputs).some(([port, { type }]) => isFile(type) && values[port] === text)
}

/** By the port's name (artifact_html, notes_md), else by what the text looks like. */
function extensionOf(port: string, text: string): string {
  const [, named] = /(?:^|[_-])(html|md|markdown|json|csv|txt)$/i.exec(port) ?? []
  if (named !== undefined) return `.${named.toLowerCase() === 'markdown' ? 'md' : named.toLowerCase()}`
  if (/^\s*<(?:!doctype html|html)\b/i.test(text)) return '.html'
  return isJson(text) ? '.json' : '.txt'
}

function isJson(text: string): boolean {
  if (!/^\s*[[{]/.test(text) || jsonTextProblem(text) !== undefined) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
