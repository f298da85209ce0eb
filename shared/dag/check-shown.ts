import type { Wire } from './connect.ts'
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
  wires: readonly Wire[],
): void {
  const before = new Map<BlockDraft, BlockDraft[]>(blocks.map((block) => [block, []]))
  for (const { from, to } of wires) before.get(to)?.push(from)
  for (const block of blocks) {
    const show = block.settled.approval?.show ?? []
    const upstream = show.some((entry) => entry.includes('.')) ? upstreamOf(block, before) : new Set<BlockDraft>()
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

function upstreamOf(
  block: BlockDraft,
  before: ReadonlyMap<BlockDraft, readonly BlockDraft[]>,
): ReadonlySet<BlockDraft> {
  const seen = new Set<BlockDraft>()
  const waiting = [...(before.get(block) ?? [])]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (seen.has(next)) continue
    seen.add(next)
    waiting.push(...(before.get(next) ?? []))
  }
  return seen
}
