import { isActing } from '../../shared/agents/agent-items.ts'
import { type Principal, principalName } from '../../shared/auth/principal.ts'
import { type Block, opensChild } from '../../shared/dag/dag.ts'
import { Fault } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import { type Amount, NOTHING, plus, type Spent } from '../../shared/runs/budget.ts'
import type { EventData } from '../../shared/runs/event.ts'
import {
  blockEpoch,
  type Head,
  type HeadApproval,
  OUTBOX_GRACE_MS,
  type OutboxEntry,
  openWaits,
} from '../../shared/runs/head.ts'
import { approvalEpoch, callQuestionLane } from '../../shared/runs/ids.ts'
import { hasOpenQuestion, laneKey, laneOwner, ordinal, PHASE, readOrdinal, workingLeg } from '../../shared/runs/lane.ts'
import { type Append, type LaneStands, type RunKey, runsPool } from '../../shared/runs/run-store.ts'
import type { BlockProjection } from '../../shared/runs/run-store-items.ts'
import { callItem, questionItem, readAgentItem, turnItem } from '../../shared/runs/turns-and-calls.ts'
import { waitId } from '../../shared/runs/wait-store.ts'
import { shortRedacted } from '../../shared/text/short-text.ts'
import { suggest } from '../../shared/text/wording.ts'
import type { World } from '../../shared/world.ts'
import { type Pinned, readPinned } from '../record/pinned-run.ts'
import { freshItemProjections, readProjections } from '../record/projections.ts'
import { chargeFor } from '../record/record-events.ts'
import { missingRunFault } from '../require-run.ts'
import { notifyEntry } from './due-approvals.ts'
import { endRun } from './end-run.ts'
import { goOn } from './rest.ts'

/** Cancels a run at once: the terminal state first, then the execution. Conflict run_ended when it is over. */
export async function stopRun(
  world: Pick<World, 'runs' | 'outbox' | 'clock' | 'settings'>,
  run: RunKey,
  principal: Principal,
  reason?: string,
): Promise<void> {
  const words = `stopped by ${principalName(principal)}${reason === undefined ? '' : `: ${reason}`}`
  const done = await endRun(world, run, { state: 'cancelled', code: 'stopped', reason: words, stop: true })
  if (done.ok) return
  if (done.because === 'unknown_run') throw await missingRunFault(world, run, `Cannot stop run "${run.run_id}"`)
  const state = (await world.runs.head(run, []))?.state
  throw new Fault('Conflict', 'run_ended', `Cannot stop run "${run.run_id}": it is already ${state}.`)
}

type StopWorld = Pick<World, 'runs' | 'objects' | 'outbox' | 'clock' | 'settings'>

/** Attempts to stop a block whose lane moves: each is a claim, a reservation or a record by whoever runs it. */
const MAX_TRIES = 50

/**
 * Stops one block of a live run for good: its terminal state first, then its dispatch, its child run, its question. What
 * depends on it is skipped, the rest goes on, and the run ends failed. Fault NotFound unknown_run or unknown_block,
 * Conflict run_ended or block_ended.
 */
export async function stopBlock(
  world: StopWorld,
  run: RunKey,
  principal: Principal,
  { block_id, reason }: { readonly block_id: string; readonly reason?: string | undefined },
): Promise<void> {
  if ((await world.runs.head(run, [])) === undefined) {
    throw await missingRunFault(world, run, `Cannot stop run "${run.run_id}"`)
  }
  const pinned = await readPinned(world, run)
  const block = pinned.dag.blocks[pinned.index.get(block_id) ?? -1]
  if (block === undefined) throw unknownBlock(run, pinned, block_id)
  const words = `stopped by ${principalName(principal)}${reason === undefined ? '' : `: ${reason}`}`
  await appendStop(world, { run, pinned, block, reason: words })
  await world.runs.putStop(run, block.index)
  await world.outbox.nudge(run)
}

/** Exactly the lane that was read: what its attempt had reserved by then is settled with it. */
async function appendStop(world: StopWorld, stop: BlockStop): Promise<void> {
  const { run, block } = stop
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const head = await world.runs.head(run)
    if (head === undefined || head.state !== 'running') throw runEnded(run, block.id, head?.state ?? 'gone')
    const done = await world.runs.append(withWord(world, await blockStopAppend(world, stop, head)))
    if (done.ok) return
  }
  const message = `Cannot stop block "${block.id}" of run "${run.run_id}": its lane moved ${MAX_TRIES} times meanwhile. Try again.`
  throw new Fault('Unavailable', 'store_busy', message)
}

/** Its questions are asked no more, and who was asked is told. */
function withWord(world: StopWorld, stopping: Append): Append {
  const { run, further_approvals = [], outbox = [], at } = stopping
  const words = further_approvals.flatMap(({ id }) => notifyEntry(world, run, at, 'cancelled', id))
  return words.length === 0 ? stopping : { ...stopping, outbox: [...outbox, ...words] }
}

function unknownBlock({ run_id }: RunKey, { dag, index }: Pinned, id: string): Fault {
  const near = suggest(id, index.keys())
  const hint =
    near === undefined ? `Blocks are ${[...index.keys()].slice(0, 12).join(', ')}.` : `Did you mean "${near}"?`
  const message = `Cannot stop block "${id.slice(0, 64)}" of run "${run_id}": DAG "${dag.name}" has no such block. ${hint}`
  return new Fault('NotFound', 'unknown_block', message)
}

function runEnded({ run_id }: RunKey, id: string, state: string): Fault {
  return new Fault('Conflict', 'run_ended', `Cannot stop block "${id}": run "${run_id}" is already ${state}.`)
}

type UseWorld = Pick<World, 'runs' | 'objects' | 'clock' | 'settings'>

interface BlockStop {
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
async function blockStopAppend(world: UseWorld, stop: BlockStop, head: Head): Promise<Append> {
  const { run, pinned, block } = stop
  const now = world.clock.now()
  const at = new Date(now).toISOString()
  const epoch = blockEpoch(pinned, head, block.id)
  const raw = head.lanes[String(block.index)] ?? null
  const lane = raw === null || readOrdinal(raw).epoch < epoch ? 0 : raw
  const { attempt, outcome } = readOrdinal(lane)
  if (outcome !== undefined) throw blockEnded(stop, outcome)
  const claimed =
    lane === 0 ? undefined : (await readProjections(world, run, new Map([[block.index, lane]]))).get(block.index)
  const use = await stoppedUse(world, stop, head, claimed)
  const told = { code: 'stopped', reason: shortRedacted(stop.reason) }
  const data: EventData<'block:cancelled'> = { ...told, ...use.told }
  const place = ordinal({ epoch, attempt, leg: workingLeg(lane), phase: PHASE.cancelled })
  const outbox = owedByStop(stop, head, epoch, at)
  return {
    run,
    lane: String(block.index),
    ordinal: place,
    guard: { is: raw },
    while: [...questionLanes(stop, head), ...itemLanes(stop, head, epoch), ...nextTurn(stop, head, claimed)],
    at,
    events: [{ type: 'block:cancelled', block_id: block.id, ...(attempt > 0 ? { attempt } : {}), data }],
    end: { block: block.index, ...(claimed?.items === undefined ? {} : { items: itemsOf(stop, head, claimed) }) },
    ...(block.foreach === undefined && !isActing(block) ? {} : { drop_items: { block: block.index } }),
    ...use.settle,
    ...questionsOf(stop, head, epoch, at),
    ...(await goOn(world, run, head, now)),
    outbox,
    ...(outbox.length === 0 ? {} : { check_at: new Date(now + OUTBOX_GRACE_MS).toISOString() }),
    projection: { block: block.index, ordinal: place, attempt, state: 'cancelled', failure: told },
  }
}

/** A question that is asked, or a vote that comes, after `head` was read is seen by the next try; calls of an agent have their own. */
function questionLanes({ block }: BlockStop, { lanes }: Head): readonly LaneStands[] {
  return ['a', 'q'].map((kind) => {
    const lane = `${kind}${block.index.toString(36)}`
    return { lane, is: lanes[lane] ?? null }
  })
}

/** Items that may hold a place among what runs: those of the list, or of an agent its newest turn and the calls of that. */
function itemsOf({ block }: BlockStop, head: Head, { items }: BlockProjection): number | readonly number[] {
  if (!isActing(block)) return items?.count ?? 0
  const turn = newestTurn(block, head) ?? items?.turn ?? 0
  return Array.from({ length: LIMITS.agent_calls_per_turn + 1 }, (_, call) => callItem(turn, call))
}

/** Between two rounds nothing is at work: a turn that begins after `head` was read is seen by the next try. */
function nextTurn({ block }: BlockStop, head: Head, claimed: BlockProjection | undefined): readonly LaneStands[] {
  if (!isActing(block) || claimed?.items === undefined) return []
  const newest = newestTurn(block, head)
  const lane = laneKey({
    block: block.index,
    item: turnItem(newest === undefined ? (claimed.items.turn ?? 0) : newest + 1),
  })
  return [{ lane, is: head.lanes[lane] ?? null }]
}

/** Of which HEAD has a lane: those of an earlier pass have left. */
function newestTurn({ index }: Block, { lanes }: Head): number | undefined {
  const items = Object.keys(lanes).flatMap((lane) => {
    const owner = laneOwner(lane)
    return owner?.block === index && owner.item !== undefined ? [owner.item] : []
  })
  return items.length === 0 ? undefined : readAgentItem(Math.max(...items)).turn
}

/**
 * An item that ends or goes on after `head` was read settles for itself: the next try sees it. At most 40 work at once; a
 * call that asked goes on with an answer, and whether there is one is asked anyway.
 */
function itemLanes({ block }: BlockStop, head: Head, epoch: number): readonly LaneStands[] {
  const asked = new Set(openQuestions(block, head, epoch).map(([id]) => questionItem(id)))
  const own = Object.entries(head.lanes).filter(([lane]) => {
    const owner = laneOwner(lane)
    return owner?.block === block.index && owner.item !== undefined && !asked.has(owner.item)
  })
  const working = own.filter(([, ordinal]) => readOrdinal(ordinal).outcome === undefined)
  return working.slice(0, MOST_ITEMS).flatMap(([lane, is]) => [{ lane, is }, ...unasked(block, head, lane, is)])
}

/** A call of an agent that waits for an answer nobody was asked for when `head` was read: the question is on a lane of its own. Items of a list share that of their block. */
function unasked(block: Block, { lanes }: Head, lane: string, is: number): readonly LaneStands[] {
  const item = laneOwner(lane)?.item
  if (item === undefined || !isActing(block) || !hasOpenQuestion(is)) return []
  const question = callQuestionLane(block.index, item)
  return [{ lane: question, is: lanes[question] ?? null }]
}

/** A condition has at most 4 KB. */
const MOST_ITEMS = 100

/** What was asked is answered for good; nobody can decide it any more. Calls of an agent may each have asked. */
function questionsOf({ block }: BlockStop, head: Head, epoch: number, at: string): Pick<Append, 'further_approvals'> {
  const further_approvals = openQuestions(block, head, epoch).map(([id, was]) => {
    return { id, was, set: { ...was, status: 'cancelled' as const, decided_at: at } }
  })
  return further_approvals.length === 0 ? {} : { further_approvals }
}

function openQuestions(block: Block, { approvals }: Head, epoch: number): readonly (readonly [string, HeadApproval])[] {
  return Object.entries(approvals).filter(([id, { block: of, status }]) => {
    return of === block.index && status === 'pending' && approvalEpoch(id) === epoch
  })
}

function owedByStop({ block }: BlockStop, head: Head, epoch: number, at: string): readonly OutboxEntry[] {
  const answers = openQuestions(block, head, epoch).map(
    ([id]) => ({ id: `token-${id}`, at, kind: 'send_token', approval_id: id }) as const,
  )
  const cause = `block "${block.id}" was stopped`
  const children = Object.entries(head.children).flatMap(([lane, child]) => {
    if (laneOwner(lane)?.block !== block.index) return []
    return [{ id: `child-${lane}`, at, kind: 'stop_child', child, cause } as const]
  })
  const waits = stoppedWaits(block, head, epoch).map(
    (wait) => ({ id: `wait-${wait}`, at, kind: 'answer_wait', wait }) as const,
  )
  return [...answers, ...children, ...waits]
}

/** Of the block, or of its items: the machine waits for their tokens, and must not wait for their time. */
function stoppedWaits(block: Block, head: Head, epoch: number): readonly string[] {
  return openWaits(head).flatMap((lane) => {
    const owner = laneOwner(lane)
    const place = readOrdinal(head.lanes[lane] ?? 0)
    return owner?.block === block.index && place.epoch === epoch ? [waitId({ ...owner, ...place })] : []
  })
}

function blockEnded({ run, block }: BlockStop, outcome: string): Fault {
  const message = `Cannot stop block "${block.id}" of run "${run.run_id}": it is already ${outcome}.`
  return new Fault('Conflict', 'block_ended', message, { facts: { outcome } })
}

interface StoppedUse {
  /** As block:cancelled says it. */
  readonly told: Pick<EventData<'block:cancelled'>, 'spent'>
  readonly settle: Pick<Append, 'settle'>
}

/** What the calls of a block have used when it is stopped, and what that frees. */
async function stoppedUse(
  world: UseWorld,
  stop: BlockStop,
  head: Head,
  claimed?: BlockProjection,
): Promise<StoppedUse> {
  const { reserved, spent } = await useOf(world, stop, head, claimed)
  return { told: spentBy(spent), settle: chargeFor(reserved, spent) }
}

interface Use {
  readonly reserved: Amount
  /** Nobody will know what calls under way used: their estimates stand for it. */
  readonly spent: Spent
}

async function useOf(world: UseWorld, { run, block }: BlockStop, head: Head, claimed?: BlockProjection): Promise<Use> {
  const { reserved = NOTHING, items } = claimed ?? {}
  if (opensChild(block.mode))
    return { reserved, spent: await childUse(world, run, head.children[String(block.index)], claimed) }
  if (items === undefined) return { reserved, spent: reserved }
  const working = await freshItemProjections(world, run, block.index, workingItems(block, head))
  const uses = await Promise.all([...working.values()].map((item) => useOfItem(world, run, head, item)))
  return {
    reserved: uses.reduce((sum, use) => plus(sum, use.reserved), reserved),
    spent: uses.reduce((sum, use) => plus(sum, use.spent), reserved),
  }
}

/** A call of an agent may be a child run. */
async function useOfItem(world: UseWorld, run: RunKey, head: Head, item: BlockProjection): Promise<Use> {
  const { reserved = NOTHING } = item
  const child = head.children[laneKey(item)]
  return { reserved, spent: child === undefined ? reserved : await childUse(world, run, child, item) }
}

/** Lanes of its items that have not ended. */
function workingItems(block: Block, { lanes }: Head): ReadonlyMap<number, number> {
  const all = Object.entries(lanes).map(([lane, at]) => ({ ...laneOwner(lane), at }))
  const own = all.filter(({ block: of, at }) => of === block.index && readOrdinal(at).outcome === undefined)
  return new Map(own.flatMap(({ item, at }) => (item === undefined ? [] : [[item, at] as const])))
}

/** A child that is stopped with its block has spent what it has committed by now, at the most. */
async function childUse(
  { runs }: UseWorld,
  { tenant }: RunKey,
  child: string | undefined,
  claimed: BlockProjection | undefined,
): Promise<Spent> {
  if (child === undefined || claimed?.state !== 'running') return NOTHING
  const budget = (await runs.head({ tenant, run_id: child }, []))?.budget
  if (budget === undefined) return NOTHING
  const { committed_tokens: tokens, committed_usd_micros: usd_micros, unpriced_tokens } = budget
  return { tokens, usd_micros, ...(unpriced_tokens ? { unpriced_tokens } : {}) }
}

function spentBy({ tokens, usd_micros, ...rest }: Spent): Pick<EventData<'block:cancelled'>, 'spent'> {
  return tokens === 0 && usd_micros === 0 ? {} : { spent: { tokens_in: tokens, tokens_out: 0, usd_micros, ...rest } }
}

const PAGE = 500
const TOGETHER = 20

/**
 * Ids of every live run of the tenant, callers' runs before their children: a parent whose child is stopped first would
 * only start another. The list lags behind on AWS, so whoever has a place is asked for too: each run takes its own before
 * it is there.
 */
export async function activeRuns(world: Pick<World, 'runs'>, tenant: string): Promise<readonly string[]> {
  const { roots, children } = await listedRuns(world, tenant)
  const known = new Set(roots)
  const holders = Object.keys(await world.runs.leases(runsPool(tenant))).filter((run_id) => !known.has(run_id))
  return [...roots, ...(await liveOf(world, tenant, holders)), ...children]
}

async function listedRuns({ runs }: Pick<World, 'runs'>, tenant: string) {
  const roots: string[] = []
  const children: string[] = []
  let after: string | undefined
  do {
    const page = await runs.list(tenant, { state: 'running', limit: PAGE, ...(after === undefined ? {} : { after }) })
    for (const { run_id, parent } of page.runs) (parent === undefined ? roots : children).push(run_id)
    after = page.next
  } while (after !== undefined)
  return { roots, children }
}

/** A holder may be one whose HEAD is not there yet, or that has ended and not given its place back. */
async function liveOf({ runs }: Pick<World, 'runs'>, tenant: string, ids: readonly string[]) {
  const live: string[] = []
  for (let i = 0; i < ids.length; i += TOGETHER) {
    const looked = ids.slice(i, i + TOGETHER).map(async (run_id) => {
      const head = await runs.head({ tenant, run_id }, [])
      return head?.state === 'running' ? [run_id] : []
    })
    live.push(...(await Promise.all(looked)).flat())
  }
  return live
}
