import { GET_BLOCK } from '../../shared/api/get-block.ts'
import type { Block } from '../../shared/dag/dag.ts'
import { Fault } from '../../shared/errors.ts'
import { foldRun } from '../../shared/runs/fold.ts'
import type { BlockFold, RunFold } from '../../shared/runs/run-fold.ts'
import { httpHandler } from '../http-handler.ts'
import { requireBlock } from '../require-block.ts'
import { requireRun } from '../require-run.ts'
import { allEvents } from '../runs/all-events.ts'
import { readPatiently } from '../runs/read-patiently.ts'
import { readPinned } from '../runs/read-pinned.ts'
import { viewAttempts } from './get-block-attempts.ts'

/** What a block was given, asked and answered in each of its attempts: folded from events, values read where they lie. */
export const handler = httpHandler({
  name: 'get-block',
  schema: GET_BLOCK,
  run: async (call, world) => {
    const { block_id } = call.params
    const { item } = call.query
    const { run } = await requireRun(world, call)
    const { meta, dag } = await readPinned(world, run)
    const block = requireBlock(dag, block_id)
    const [approvals, context] = [await world.runs.approvals(run), await world.runs.context(run)]
    const events = await allEvents(world, run)
    const fold = foldRun(events)
    if (item !== undefined) requireItem(block, item, fold.blocks[block_id])
    const read = readPatiently(world, run.tenant)
    const parts = { events, dag, meta, context: context ?? { version: 0, values: {} }, read, approvals }
    const attempts = await viewAttempts(parts, block, item, fold)
    const own = { run_id: run.run_id, block_id, ...(item === undefined ? {} : { item }) }
    return { json: { ...own, ...stateOf(fold, block_id, item), definition: { ...block }, ...attempts } }
  },
})

function stateOf(fold: RunFold, block_id: string, item: number | undefined) {
  const block = fold.blocks[block_id]
  const unseen = { state: fold.state === 'running' ? 'pending' : 'cancelled', attempt: 0 }
  const { state, attempt } = (item === undefined ? block : block?.items?.[item]) ?? unseen
  return { state, attempt, epoch: block?.epoch ?? 0 }
}

function requireItem({ id, foreach }: Block, item: number, block: BlockFold | undefined): void {
  const count = block?.item_count ?? 0
  if (foreach !== undefined && item < count) return
  const seen = foreach === undefined ? 'it goes over no list (it has no foreach)' : itemsOf(count)
  throw new Fault('NotFound', 'unknown_item', `Cannot find item ${item} of block "${id}": ${seen}.`)
}

function itemsOf(count: number): string {
  return count === 0 ? 'it has begun with none yet' : `it began with ${count}, numbered from 0 to ${count - 1}`
}
