import type { Decision } from '../../shared/api/control-routes.ts'
import { Fault } from '../../shared/errors.ts'
import { approvalEpoch } from '../../shared/runs/approval-epoch.ts'
import { decidedWords } from '../../shared/runs/approval-rules.ts'
import type { Head, HeadApproval } from '../../shared/runs/head.ts'
import type { ApprovalItem } from '../../shared/runs/run-items.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { readPinned } from '../runs/read-pinned.ts'

interface Picked {
  readonly id: string
  readonly head: Head
  readonly item: ApprovalItem
  readonly approval: HeadApproval
}

/**
 * The approval a decision means: by id, by block, or the only pending one. NotFound for an unknown run or id; Conflict
 * not_yet_asked, several_pending, nothing_pending or run_ended when there is none to decide.
 */
export async function pickApproval(
  world: Pick<World, 'runs' | 'objects'>,
  run: RunKey,
  decision: Decision,
): Promise<Picked> {
  const head = await world.runs.head(run)
  if (head === undefined) {
    const message = `Cannot decide: there is no run "${run.run_id}". \`sluice run list\` shows the runs there are.`
    throw new Fault('NotFound', 'unknown_run', message)
  }
  const id = decision.approval_id ?? (await idOf(world, run, head, decision.block_id))
  const approval = head.approvals[id]
  const item = await world.runs.approval(run, id)
  if (approval === undefined || item === undefined) {
    throw new Fault('NotFound', 'unknown_approval', `Cannot decide: run "${run.run_id}" has no approval "${id}".`)
  }
  if (head.state !== 'running' && approval.status === 'pending') {
    throw new Fault('Conflict', 'run_ended', `Cannot decide approval "${id}": the run is ${head.state}.`)
  }
  return { id, head, item, approval }
}

async function idOf(
  world: Pick<World, 'runs' | 'objects'>,
  run: RunKey,
  head: Head,
  blockId?: string,
): Promise<string> {
  if (blockId !== undefined) return idOfBlock(world, run, head, blockId)
  const entries = Object.entries(head.approvals)
  const pending = entries.filter(([, { status }]) => status === 'pending')
  const [only] = pending
  if (only !== undefined && pending.length === 1) return only[0]
  if (pending.length > 1) {
    const message = `Cannot tell which approval is meant: ${pending.map(([id]) => id).join(', ')} are pending. Send approval_id or block_id.`
    throw new Fault('Conflict', 'several_pending', message)
  }
  const last = entries.at(-1)
  const before = last === undefined ? '' : ` The last one, "${last[0]}", is ${decidedWords(last[1])}.`
  const message = `Cannot decide: no approval of run "${run.run_id}" is pending (the run is ${head.state}).${before}`
  throw new Fault('Conflict', last === undefined ? 'nothing_pending' : 'already_decided', message)
}

async function idOfBlock(
  world: Pick<World, 'runs' | 'objects'>,
  run: RunKey,
  head: Head,
  blockId: string,
): Promise<string> {
  const { dag, index } = await readPinned(world, run)
  const block = dag.blocks[index.get(blockId) ?? -1]
  if (block?.approval === undefined) {
    const asking = dag.blocks.flatMap(({ id, approval }) => (approval === undefined ? [] : [id]))
    const message = `Cannot decide: block "${blockId}" of DAG "${dag.name}" asks nobody. Blocks that do: ${asking.join(', ') || 'none'}.`
    throw new Fault('NotFound', 'unknown_approval', message)
  }
  const asked = Object.keys(head.approvals).filter((id) => head.approvals[id]?.block === block.index)
  const last = asked.toSorted((a, b) => approvalEpoch(a) - approvalEpoch(b)).at(-1)
  if (last !== undefined) return last
  const message = `Cannot decide: block "${blockId}" has not asked yet. Wait for approval:requested.`
  throw new Fault('Conflict', 'NOT_YET_ASKED', message)
}
