import { dueRule } from '../../shared/runs/due-bounce.ts'
import { laneOwner } from '../../shared/runs/lane-key.ts'
import { readOrdinal } from '../../shared/runs/ordinal.ts'
import { endRun } from '../runs/end-run.ts'
import type { BlockCall } from './block-call.ts'
import { bounceCase } from './bounce-case.ts'
import { readOwnProjection } from './read-outputs.ts'

/** With the run option fail_fast, the first failed block ends the run and stops its siblings; not one that is sent back. */
export async function failFast(
  call: BlockCall,
  why: { readonly code: string; readonly reason: string; readonly gates?: readonly string[] },
): Promise<void> {
  if (!call.meta.options.fail_fast || (await isTolerated(call))) return
  if (dueRule(bounceCase(call, why.gates ?? [])) !== undefined) return
  const { world, run, block } = call
  const reason = `Block "${block.id}" failed: ${why.reason}`
  await endRun(world, run, { state: 'failed', code: why.code, reason, block_id: block.id, stop: true })
}

/** The same for a failure that is recorded: whoever wrote it may have died before it could end the run. */
export async function failFastRecorded(call: BlockCall): Promise<void> {
  const { meta, head, lane } = call
  if (!meta.options.fail_fast || head.state !== 'running' || lane === undefined) return
  if (readOrdinal(lane).outcome !== 'failed') return
  const projection = await readOwnProjection(call, lane)
  await failFast(call, projection?.failure ?? { code: 'block_failed', reason: 'its record names no reason' })
}

/** A failed item ends nothing while no more have failed than its block tolerates. */
async function isTolerated({ world, run, dag, block, item, epoch }: BlockCall): Promise<boolean> {
  if (item === undefined) return false
  const { lanes = {} } = (await world.runs.head(run)) ?? {}
  const failed = Object.entries(lanes).filter(([key, lane]) => {
    const owner = laneOwner(key)
    const place = readOrdinal(lane)
    const isItem = owner?.block === block.index && owner.item !== undefined
    return isItem && place.epoch === epoch && place.outcome === 'failed'
  })
  return failed.length <= (dag.blocks[block.index]?.foreach?.tolerate ?? 0)
}
