import type { Json } from '../canonical.ts'
import { isName } from './name.ts'
import type { BlockDraft } from './read-block.ts'
import type { Reading } from './reading.ts'
import type { Problem } from './report.ts'
import type { Path } from './source.ts'
import { suggest } from './suggest.ts'
import { listed, quoted, shown } from './wording.ts'

type Blocks = ReadonlyMap<string, BlockDraft>

/** The block and the output that `block.output` names; what it does not find is a problem at `path`. */
export function findOutput(
  reading: Reading,
  byId: Blocks,
  from: Json,
  path: Path,
): { readonly block: BlockDraft; readonly output: string } | undefined {
  const [id = '', output = '', ...more] = typeof from === 'string' ? from.split('.') : []
  if (typeof from !== 'string' || more.length > 0 || !isName(id) || !isName(output)) {
    return refuseForm(reading, byId, from, path)
  }
  const block = byId.get(id)
  if (block === undefined) return refuseBlock(reading, byId, from, path)
  if (!block.outputs.has(output)) return refuseOutput(reading, block, from, path)
  return { block, output }
}

function refuseForm(reading: Reading, byId: Blocks, from: Json, path: Path): undefined {
  return refuse(reading, 'malformed_from', path, ({ place }) => {
    const outputs = typeof from === 'string' ? [...(byId.get(from)?.outputs.keys() ?? [])] : []
    const [only] = outputs
    const hint = outputs.length === 1 ? `Did you mean ${quoted(`${String(from)}.${only}`)}?` : undefined
    return { text: `${place} is ${shown(from)}; allowed is BLOCK.OUTPUT`, hint }
  })
}

function refuseBlock(reading: Reading, byId: Blocks, from: string, path: Path): undefined {
  const [id = '', output = ''] = from.split('.')
  return refuse(reading, 'unknown_block', path, ({ who }) => {
    const near = suggest(id, byId.keys())
    const text = `${who} reads ${quoted(from)}, but there is no block ${quoted(id)}; blocks are ${listed(byId.keys())}`
    if (near !== undefined) return { text, hint: `Did you mean ${quoted(`${near}.${output}`)}?` }
    const isInput = path[0] === 'blocks' && (id === 'inputs' || id === 'context')
    const hint = `A run input needs no "from": call the input "${output}" and give its type.`
    return { text, hint: isInput ? hint : undefined }
  })
}

function refuseOutput(reading: Reading, { id = '', outputs }: BlockDraft, from: string, path: Path): undefined {
  return refuse(reading, 'unknown_output', path, ({ who }) => {
    const names = [...outputs.keys()]
    const near = suggest(from.slice(id.length + 1), names) ?? (names.length === 1 ? names[0] : undefined)
    const text = `${who} reads ${quoted(from)}, but ${quoted(id)} has ${names.length === 0 ? 'no outputs' : `outputs ${listed(names)}`}`
    return { text, hint: near === undefined ? undefined : `Did you mean ${quoted(`${id}.${near}`)}?` }
  })
}

function refuse({ problems }: Reading, code: string, path: Path, say: Problem['say']): undefined {
  problems.push({ code, path, say })
  return undefined
}
