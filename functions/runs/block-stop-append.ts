import type { Block } from '../../shared/dag/dag.ts'
import { Fault } from '../../shared/errors.ts'
import type { Append, LaneStands } from '../../shared/runs/append.ts'
import { approvalEpoch } from '../../shared/runs/approval-epoch.ts'
import { blockEpoch } from '../../shared/runs/block-lane.ts'
import { OUTBOX_GRACE_MS } from '../../shared/runs/check-at.ts'
import type { EventData } from '../../shared/runs/event.ts'
import type { Head, HeadApproval, OutboxEntry } from '../../shared/runs/head.ts'
import { workingLeg } from '../../shared/runs/legs.ts'
import { ordinal, PHASE, readOrdinal } from '../../shared/runs/ordinal.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { deadlineAfterPause } from '../approvals/deadline-after-pause.ts'
import { readProjections } from '../blocks/read-outputs.ts'
import { shortText } from '../blocks/short-text.ts'
import type { Pinned } from './read-pinned.ts'
import { stoppedUse } from './stopped-use.ts'

export type StopWorld = Pick<World, 'runs' | 'objects' | 'clock'>

export interface BlockStop {
  readonly run: RunKey
  readonly pinned: Pinned
  readonly block: Block
  /** Who and why, in words. */
  readonly reason: string
}

/**
 * The one append that stops a block where `head` says it is: its lane, its slot and its items' slots, its question with
 * the answer owed to the waiting machine, its child run, what its calls had reserved. Fault Conflict block_ended.
 */
export async function blockStopAppend(world: StopWorld, stop: BlockStop, head: Head): Promise<Append> {
  const { run, pinned, block } = stop
  const now = world.clock.now()
  const at = new Date(now).toISOString()
  const epoch = blockEpoch(pinned, head, block.id)
  const raw = head.lanes[String(block.index)] ?? null
  const lane = raw === null || readOrdinal(raw).epoch < epoch ? 0 : raw
  const { attempt, outcome } = readOrdinal(lane)
  if (outcome !== undefined) throw ended(stop, outcome)
  const claimed =
    lane === 0 ? undefined : (await readProjections(world, run, new Map([[block.index, lane]]))).get(block.index)
  const use = await stoppedUse(world, stop, head, claimed)
  const told = { code: 'stopped', reason: shortText(stop.reason) }
  const data: EventData<'block:cancelled'> = { ...told, ...use.told }
  const place = ordinal({ epoch, attempt, leg: workingLeg(lane), phase: PHASE.cancelled })
  const outbox = owedBy(stop, head, epoch, at)
  return {
    run,
    lane: String(block.index),
    ordinal: place,
    guard: { is: raw },
    while: [...questionLanes(stop, head), ...itemLanes(stop, head)],
    at,
    events: [{ type: 'block:cancelled', block_id: block.id, ...(attempt > 0 ? { attempt } : {}), data }],
    end: { block: block.index, ...(claimed?.items === undefined ? {} : { items: claimed.items.count }) },
    ...(block.foreach === undefined ? {} : { drop_items: { block: block.index } }),
    ...use.settle,
    ...questionOf(stop, head, epoch, at),
    ...(await deadlineAfterPause(world, run, head, now)),
    outbox,
    ...(outbox.length === 0 ? {} : { check_at: new Date(now + OUTBOX_GRACE_MS).toISOString() }),
    projection: { block: block.index, ordinal: place, attempt, state: 'cancelled', failure: told },
  }
}

/** A question that is asked, or a vote that comes, after `head` was read is seen by the next try. */
function questionLanes({ block }: BlockStop, { lanes }: Head): readonly LaneStands[] {
  return ['a', 'q'].map((kind) => {
    const lane = `${kind}${block.index.toString(36)}`
    return { lane, is: lanes[lane] ?? null }
  })
}

/** An item that ends or goes on after `head` was read settles for itself: the next try sees it. At most 40 work at once. */
function itemLanes({ block }: BlockStop, { lanes }: Head): readonly LaneStands[] {
  const own = Object.entries(lanes).filter(([lane]) => lane.startsWith(`${block.index}.`))
  const working = own.filter(([, ordinal]) => readOrdinal(ordinal).outcome === undefined)
  return working.slice(0, MOST_ITEMS).map(([lane, is]) => ({ lane, is }))
}

/** A condition has at most 4 KB. */
const MOST_ITEMS = 100

/** The question is answered for good; nobody can decide it any more. */
function questionOf({ block }: BlockStop, head: Head, epoch: number, at: string): Pick<Append, 'approval'> {
  const [id, asked] = openQuestion(block, head, epoch)
  if (asked === undefined) return {}
  return { approval: { id, was: asked, set: { ...asked, status: 'cancelled', decided_at: at } } }
}

/** A block asks one thing at a time: for its dispatch, or in the middle of an attempt. */
function openQuestion(block: Block, { approvals }: Head, epoch: number): readonly [string, HeadApproval | undefined] {
  const open = Object.entries(approvals).find(([id, { block: of, status }]) => {
    return of === block.index && status === 'pending' && approvalEpoch(id) === epoch
  })
  return open ?? ['', undefined]
}

function owedBy({ block }: BlockStop, head: Head, epoch: number, at: string): readonly OutboxEntry[] {
  const [id, asked] = openQuestion(block, head, epoch)
  const child = head.children[String(block.index)]
  const answer = { id: `token-${id}`, at, kind: 'send_token', approval_id: id } as const
  const stop = {
    id: `child-${block.index}`,
    at,
    kind: 'stop_child',
    child: child ?? '',
    cause: `block "${block.id}" was stopped`,
  } as const
  return [...(asked === undefined ? [] : [answer]), ...(child === undefined ? [] : [stop])]
}

function ended({ run, block }: BlockStop, outcome: string): Fault {
  const message = `Cannot stop block "${block.id}" of run "${run.run_id}": it is already ${outcome}.`
  return new Fault('Conflict', 'block_ended', message, { facts: { outcome } })
}
