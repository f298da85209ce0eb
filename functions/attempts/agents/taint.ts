import { isActing } from '../../../shared/agents/agent-items.ts'
import type { Block, Dag } from '../../../shared/dag/dag.ts'
import { blockOrdinal } from '../../../shared/runs/head.ts'
import { readOrdinal } from '../../../shared/runs/lane.ts'
import type { ArtifactItem } from '../../../shared/runs/run-store-items.ts'
import { readProjections } from '../../record/projections.ts'
import type { BlockCall } from '../block-call.ts'

type InRun = Pick<BlockCall, 'world' | 'run' | 'meta' | 'dag' | 'index' | 'moduleOf'>

/**
 * Whether what a block is given goes back to an agent that had read what others wrote: of this run, through whatever blocks
 * lie between, or of the run that began this one.
 */
export async function isFedTainted(run: InRun, block: Pick<Block, 'inputs'>): Promise<boolean> {
  return run.meta.parent?.tainted === true || (await isAnyTainted(run, blocksBefore(run.dag, block)))
}

/** Whether a file of the run holds what such an agent wrote, or a block it feeds. */
export async function isTaintedFile(run: InRun, { tainted, block_id, item }: ArtifactItem): Promise<boolean> {
  if (tainted === true) return true
  const writer = run.dag.blocks[run.index.get(block_id) ?? -1]
  if (writer === undefined) return false
  // What its calls wrote before it had read any says so itself.
  if (isActing(writer)) return item === undefined && isAnyTainted(run, [writer])
  return (await isFedTainted(run, writer)) || isAnyTainted(run, [writer])
}

/** Those its inputs come from, and those theirs come from. */
function blocksBefore({ blocks }: Dag, block: Pick<Block, 'inputs'>): readonly Block[] {
  const byId = new Map(blocks.map((one) => [one.id, one]))
  const found = new Set<Block>()
  const open = [block]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const { from } of Object.values(next.inputs)) {
      const source = from === undefined ? undefined : byId.get(from.block)
      if (source === undefined || found.has(source)) continue
      found.add(source)
      open.push(source)
    }
  }
  return [...found]
}

/** Agents that act, and blocks whose child runs may have some. */
async function isAnyTainted(of: InRun, blocks: readonly Block[]): Promise<boolean> {
  const { world, run } = of
  const sources = blocks.filter((block) => isActing(block) || block.mode === 'dag')
  if (sources.length === 0) return false
  const head = await world.runs.head(run)
  if (head === undefined) return false
  const lanes = sources.flatMap(({ id, index }) => {
    const lane = blockOrdinal(of, head, id)
    return lane === undefined || readOrdinal(lane).outcome !== 'completed' ? [] : [[index, lane] as const]
  })
  const projections = await readProjections(world, run, new Map(lanes))
  if ([...projections.values()].some(({ made }) => made?.tainted === true)) return true
  for (const { foreach, index } of sources) {
    if (foreach === undefined) continue
    const items = await world.runs.itemProjections(run, index)
    if (items.some(({ made }) => made?.tainted === true)) return true
  }
  return false
}
