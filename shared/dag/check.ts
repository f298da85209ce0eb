import type { Json } from '../canonical.ts'
import { checkShown } from './check-shown.ts'
import { checkTemplates } from './check-templates.ts'
import { connect, unknownBlock } from './connect.ts'
import { findCycles } from './cycles.ts'
import { LIMITS } from './limits.ts'
import type { Sound } from './normalise.ts'
import { type BlockDraft, readBlock } from './read-block.ts'
import { readPorts } from './read-ports.ts'
import { type Reading, readList, readSection } from './read-section.ts'
import type { Problem } from './report.ts'
import { SECTIONS } from './sections.ts'
import { checkDefaults, settleTypes } from './settle-types.ts'

/**
 * Checks a whole document and answers everything that is wrong with it, never only the first (spec dag, "Checks").
 * `sound` is there exactly when `problems` is empty.
 */
export function check(
  document: Json,
  options: Omit<Reading, 'problems'> & { readonly name: string },
): { readonly problems: readonly Problem[]; readonly sound?: Sound } {
  const reading: Reading = { ...options, problems: [] }
  const section = readSection(reading, SECTIONS.document, document, [], 'document')
  if (section === undefined) return { problems: reading.problems }
  const inputs = readPorts(reading, 'run_input', section.inputs, ['inputs'])
  checkDefaults(reading, inputs, (port) => port.type)
  const blocks = readBlocks(reading, section.blocks)
  const byId = indexBlocks(reading, blocks)
  const wires = connect(reading, blocks, byId, section.edges)
  const types = settleTypes(reading, blocks, wires)
  findCycles(reading, blocks, wires)
  checkShown(reading, blocks, byId, wires)
  for (const key of ['entrypoints', 'terminals'] as const) checkNamed(reading, byId, key, section[key] ?? [])
  const undeclared = new Set(blocks.flatMap((block) => [...checkTemplates(reading, block, types, inputs)]))
  if (reading.problems.length > 0) return { problems: reading.problems }
  const sound = blocks.flatMap((block) => {
    const { id, work } = block
    // Both are there: without one there is a problem.
    return id === undefined || work === undefined ? [] : [{ ...block, id, work }]
  })
  const { name = options.name, version } = section
  const told = version === undefined ? {} : { version: String(version) }
  return { problems: [], sound: { name, ...told, inputs, undeclared, blocks: sound, wires, types } }
}

function checkNamed(
  reading: Reading,
  byId: ReadonlyMap<string, BlockDraft>,
  key: 'entrypoints' | 'terminals',
  ids: readonly string[],
): void {
  for (const [at, id] of ids.entries()) if (!byId.has(id)) unknownBlock(reading, byId, id, [key, at])
}

function readBlocks(reading: Reading, given: Json | undefined): readonly BlockDraft[] {
  const blocks = given === undefined ? undefined : readList(reading, given, ['blocks'])
  const hint = 'Give "blocks" a list with at least one block.'
  if (given === undefined) refuse(reading, 'missing_blocks', 'the document has no blocks', hint)
  if (blocks?.length === 0) refuse(reading, 'empty_blocks', 'the document has an empty list of blocks', hint)
  if (blocks !== undefined && blocks.length > LIMITS.blocks) {
    refuse(reading, 'limit_exceeded', `the document has ${blocks.length} blocks; the limit is ${LIMITS.blocks}`)
  }
  return (blocks ?? []).flatMap((block, index) => readBlock(reading, block, index) ?? [])
}

function refuse({ problems }: Reading, code: string, text: string, hint?: string): void {
  problems.push({ code, path: ['blocks'], on: 'key', say: () => ({ text, hint }) })
}

/** By id; of two blocks with one id the first is meant, and the second is a problem. */
function indexBlocks({ problems }: Reading, blocks: readonly BlockDraft[]): ReadonlyMap<string, BlockDraft> {
  const byId = new Map<string, BlockDraft>()
  for (const block of blocks) {
    if (block.id === undefined) continue
    const first = byId.get(block.id)
    if (first === undefined) byId.set(block.id, block)
    else {
      const text = `blocks[${block.index}] has the id "${block.id}", which blocks[${first.index}] has already`
      const say: Problem['say'] = () => ({ text, hint: 'Give each block an id of its own.' })
      problems.push({ code: 'duplicate_id', path: [...block.path, 'id'], say })
    }
  }
  return byId
}
