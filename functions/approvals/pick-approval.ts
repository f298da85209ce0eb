import type { Decision } from '../../shared/api/control-routes.ts'
import { Fault } from '../../shared/errors.ts'
import { approvalEpoch } from '../../shared/runs/approval-epoch.ts'
import { decidedWords } from '../../shared/runs/approval-rules.ts'
import { askNumber } from '../../shared/runs/ask-id.ts'
import type { Head, HeadApproval } from '../../shared/runs/head.ts'
import type { ApprovalItem } from '../../shared/runs/run-items.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { readPinned } from '../runs/read-pinned.ts'

/** An approval somebody decides on, as it was read. */
export interface Picked {
  readonly id: string
  readonly head: Head
  readonly item: ApprovalItem
  readonly approval: HeadApproval
}

/**
 * The approval a decision means: by id, by block, or the only pending one. NotFound for an unknown run or id; Conflict
 * NOT_YET_ASKED, several_pending, nothing_pending, no_open_ask (a waiver) or run_ended when there is none to decide.
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
  const id = decision.approval_id ?? (await idOf(world, run, head, decision))
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

type PickWorld = Pick<World, 'runs' | 'objects'>

async function idOf(world: PickWorld, run: RunKey, head: Head, decision: Decision): Promise<string> {
  if (decision.block_id !== undefined) return idOfBlock(world, run, head, decision.block_id, decision.decision)
  const entries = Object.entries(head.approvals)
  const pending = entries.filter(([, { status }]) => status === 'pending')
  const [only] = pending
  if (only !== undefined && pending.length === 1) return only[0]
  if (pending.length > 1) {
    const message = `Cannot tell which approval is meant: ${pending.map(([id]) => id).join(', ')} are pending. Send approval_id or block_id.`
    throw new Fault('Conflict', 'several_pending', message)
  }
  if (decision.decision === 'waive') throw noOpenAsk(run, 'BLOCK')
  const last = entries.at(-1)
  const before = last === undefined ? '' : ` The last one, "${last[0]}", is ${decidedWords(last[1])}.`
  const message = `Cannot decide: no approval of run "${run.run_id}" is pending (the run is ${head.state}).${before}`
  throw new Fault('Conflict', last === undefined ? 'nothing_pending' : 'already_decided', message)
}

async function idOfBlock(
  world: PickWorld,
  run: RunKey,
  head: Head,
  blockId: string,
  word: Decision['decision'],
): Promise<string> {
  const { dag, index } = await readPinned(world, run)
  const block = dag.blocks[index.get(blockId) ?? -1]
  const asked = Object.keys(head.approvals).filter((id) => head.approvals[id]?.block === block?.index)
  const last = asked.toSorted((a, b) => placeOf(a) - placeOf(b)).at(-1)
  const isOpen = last !== undefined && head.approvals[last]?.status === 'pending'
  if (block !== undefined && word === 'waive' && !isOpen) throw noOpenAsk(run, block.id)
  if (last !== undefined) return last
  if (block?.approval === undefined) {
    const asking = dag.blocks.flatMap(({ id, approval }) => (approval === undefined ? [] : [id]))
    const message = `Cannot decide: block "${blockId}" of DAG "${dag.name}" asks nobody. Blocks that do: ${asking.join(', ') || 'none'}.`
    throw new Fault('NotFound', 'unknown_approval', message)
  }
  const message = `Cannot decide: block "${blockId}" has not asked yet. Wait for approval:requested.`
  throw new Fault('Conflict', 'NOT_YET_ASKED', message)
}

/** The newest pass last, and in it the question before the work before those in the middle of it. */
function placeOf(id: string): number {
  return approvalEpoch(id) * 1_000 + (askNumber(id) ?? 0)
}

/** A waiver is the answer to a question; what has ended stays as it ended. */
function noOpenAsk({ run_id }: RunKey, block: string): Fault {
  const message = `Cannot waive: ${block === 'BLOCK' ? `run "${run_id}"` : `block "${block}"`} asks nothing now. What has ended is done again with \`sluice run retry ${run_id} --from ${block}\`.`
  return new Fault('Conflict', 'no_open_ask', message)
}
