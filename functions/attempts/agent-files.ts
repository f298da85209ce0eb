import type { Block, PortType } from '../../shared/dag/dag.ts'
import { Fault } from '../../shared/errors.ts'
import type { ReadObject } from '../../shared/gates/read-facts.ts'
import type { Json } from '../../shared/text/json.ts'
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
