import type { Reach } from './reach.ts'
import type { BlockDraft } from './read-block.ts'
import type { Reading } from './reading.ts'
import type { Problem } from './report.ts'
import { listed, quoted } from './wording.ts'

/**
 * `approval.show` of every block: inputs of the block itself, or outputs of blocks that are done before it. What it
 * cannot show is a problem here: an approver decides on what is shown.
 */
export function checkShown(
  { problems }: Reading,
  blocks: readonly BlockDraft[],
  byId: ReadonlyMap<string, BlockDraft>,
  { before }: Reach,
): void {
  for (const block of blocks) {
    const show = block.settled.approval?.show ?? []
    const upstream = show.some((entry) => entry.includes('.')) ? before(block) : new Set<BlockDraft>()
    for (const [index, entry] of show.entries()) {
      const problem = problemOf(entry, block, byId, upstream)
      if (problem === undefined) continue
      const [code, why] = problem
      const say: Problem['say'] = ({ who }) => ({ text: `${who} shows ${quoted(entry)} to its approver, but ${why()}` })
      problems.push({ code, path: [...block.path, 'approval', 'show', index], say })
    }
  }
}

function problemOf(
  entry: string,
  { inputs }: BlockDraft,
  byId: ReadonlyMap<string, BlockDraft>,
  upstream: ReadonlySet<BlockDraft>,
): readonly [code: string, why: () => string] | undefined {
  const [id = '', output, ...more] = entry.split('.')
  if (output === undefined) {
    return inputs.has(entry) ? undefined : ['unknown_input', () => `its inputs are ${listed(inputs.keys())}`]
  }
  const source = byId.get(id)
  if (source === undefined) return ['unknown_block', () => `there is no such block; blocks are ${listed(byId.keys())}`]
  if (more.length > 0 || !source.outputs.has(output)) {
    return ['unknown_output', () => `outputs of "${id}" are ${listed(source.outputs.keys())}`]
  }
  return upstream.has(source) ? undefined : ['not_upstream', () => `"${id}" is not done before this block`]
}
