import type { Json } from '../../../shared/text/json.ts'
import { type BlockHandler, type HandlerCall, handlerFault, pickInput, readConfig } from './block-handler.ts'
import { storeArtifact } from './store-artifact.ts'

/**
 * `builtin:write-file` of OpenSkelo: a file is an artifact of the run here, under its path without `./`; `{timestamp}` is
 * the run's start (UTC, in `timestamp_format`), so that a repeat writes the same name. Outputs: one of type file or
 * artifact takes the object ref; of the others file_name, bytes_written and save_summary go by name (`desktop_file_name`
 * is a file_name too), one named as the input that is written takes what was written, and any other the path. With
 * `overwrite: false` (the default) a name another block has written is refused; `mkdir` has no meaning.
 */
export const writeFile: BlockHandler = {
  async run(call) {
    call.signal.throwIfAborted()
    const { content_from = 'content' } = readConfig('builtin:write-file', call)
    const name = await nameOf(call)
    const content = pickInput(call, HANDLER, content_from)
    const stored = await storeArtifact(call, { name, value: content })
    const known: Readonly<Record<string, Json>> = {
      [content_from]: content,
      file_name: name.slice(name.lastIndexOf('/') + 1),
      bytes_written: stored.bytes,
      save_summary: `stored ${stored.bytes} bytes as artifact ${name}`,
    }
    return Object.fromEntries(
      Object.entries(call.outputs).map(([port, { type }]) => {
        if (type === 'file' || type === 'artifact') return [port, stored.ref]
        const named = port.endsWith('_file_name') ? 'file_name' : port
        return [port, Object.hasOwn(known, named) ? (known[named] ?? null) : name]
      }),
    )
  },
}

const HANDLER = 'builtin:write-file'

async function nameOf(call: HandlerCall): Promise<string> {
  const { path_from, default_path_template, timestamp_format, overwrite } = readConfig(HANDLER, call)
  const given = path_from === undefined ? undefined : call.inputs[path_from]
  const written = typeof given === 'string' && given.trim() !== '' ? given : default_path_template
  const started = (await call.world.runs.meta(call.run))?.created_at ?? ''
  const name = written.replaceAll('{timestamp}', () => stampOf(started, timestamp_format)).replace(/^(?:\.\/)+/, '')
  if (!/^[A-Za-z0-9][A-Za-z0-9._/-]{0,199}$/.test(name) || /\.\.|\/\/|\/$/.test(name)) {
    const seen = JSON.stringify(name.slice(0, 200))
    const allowed = 'letters, digits, . _ / -, at most 200, below the run: no "..", no leading "/"'
    throw handlerFault(call, HANDLER, 'bad_artifact_name', `its path is ${seen}; allowed are ${allowed}.`)
  }
  if (!overwrite) await refuseOther(call, name)
  return name
}

/** `2026-11-22T03:04:05.678Z` as YYYYMMDD-HHmmss is `20261122-030405`. */
function stampOf(time: string, format: string): string {
  const [YYYY = '', MM = '', DD = '', HH = '', mm = '', ss = ''] = time.split(/[^0-9]/)
  const parts: Readonly<Record<string, string>> = { YYYY, MM, DD, HH, mm, ss }
  return format.replaceAll(/YYYY|MM|DD|HH|mm|ss/g, (token) => parts[token] ?? token)
}

async function refuseOther(call: HandlerCall, name: string): Promise<void> {
  const other = (await call.world.runs.artifacts(call.run)).find((item) => item.name === name)
  if (other === undefined || other.block_id === call.block_id) return
  const what = `artifact "${name}" was written by block "${other.block_id}". Give another path, or overwrite: true.`
  throw handlerFault(call, HANDLER, 'artifact_exists', what)
}
