import type { Json } from '../../../shared/canonical.ts'
import { type BlockHandler, configOf } from './handler.ts'
import { pickInput } from './pick-input.ts'
import { readObject } from './read-object.ts'

/**
 * Stores input `body` (or the one input) as artifact `name` of the run: text as it is, the bytes behind an object ref,
 * other values as indented JSON. Every output takes the object ref. The same name again replaces the artifact; items of
 * a foreach block write one each: item 3 of `out/plan.md` is `out/plan.3.md`.
 */
export const writeArtifact: BlockHandler = {
  async run(call) {
    call.signal.throwIfAborted()
    const { world, run, block_id, attempt, item } = call
    const { name: given, media_type } = configOf('write-artifact', call)
    const name = item === undefined ? given : numbered(given, item)
    const value = pickInput(call, 'write-artifact', 'body')
    const stored = await readObject(call, value)
    const object = await world.objects.put(run.tenant, stored ?? new TextEncoder().encode(textOf(value)))
    call.signal.throwIfAborted()
    await world.runs.putArtifact(run, { name, ...object, media_type: media_type ?? mediaType(name), block_id, attempt })
    return Object.fromEntries(Object.keys(call.outputs).map((port) => [port, object.ref]))
  },
}

function numbered(name: string, item: number): string {
  const [, stem = name, extension = ''] = /^(.*?[^/])(\.[^./]+)?$/.exec(name) ?? []
  return `${stem}.${item}${extension}`
}

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  md: 'text/markdown; charset=utf-8',
  txt: 'text/plain; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
  html: 'text/html; charset=utf-8',
  json: 'application/json',
}

function mediaType(name: string): string {
  return MEDIA_TYPES[name.slice(name.lastIndexOf('.') + 1).toLowerCase()] ?? 'application/octet-stream'
}

function textOf(value: Json): string {
  return typeof value === 'string' ? value : `${JSON.stringify(value, null, 2)}\n`
}
