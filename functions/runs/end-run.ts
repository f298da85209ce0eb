import type { FinalStatus } from '../../shared/goals/decision-table.ts'
import type { EventData, NewEvent } from '../../shared/runs/event.ts'
import { type Head, isPaused, OUTBOX_GRACE_MS, type OutboxEntry, type RunState } from '../../shared/runs/head.ts'
import { ordinal, PHASE, readOrdinal } from '../../shared/runs/lane.ts'
import { samePause } from '../../shared/runs/pause.ts'
import type { Appended, LaneStands, Meta, RunKey } from '../../shared/runs/run-store.ts'
import { redactSecrets } from '../../shared/text/redact.ts'
import type { World } from '../../shared/world.ts'
import { notifyEntry } from './due-approvals.ts'

interface Ending {
  readonly state: Exclude<RunState, 'running'>
  readonly code: string
  readonly reason: string
  readonly block_id?: string
  /** Of an iterated run: the linked run that takes its place. */
  readonly next_run?: string
  /** What its gates say, where it was judged by them, and the row of their table. */
  readonly final_status?: FinalStatus
  readonly row?: string
  /** Only while that lane stands so. */
  readonly while?: LaneStands
  /** True when the execution still runs and must be stopped (stop, deadline, fail_fast). */
  readonly stop: boolean
}

/** On the run's own lane; the last three are ends no block has. */
const TERMINAL = {
  completed: PHASE.completed,
  failed: PHASE.failed,
  cancelled: PHASE.cancelled,
  partial: 94,
  blocked: 95,
  iterated: 96,
} as const

/**
 * The one path to a terminal run: ONE update writes the state, its event and what it owes: the stop of its execution
 * and of its child runs, the answer to the block that waits for it, else its slot among the active runs, its turn, and the word to
 * the people it asked something. Dispatches in
 * flight see the STOP item. A run that has ended already refuses.
 */
export async function endRun(
  world: Pick<World, 'runs' | 'outbox' | 'clock' | 'settings'>,
  run: RunKey,
  ending: Ending,
): Promise<Appended> {
  const { state, code, reason, block_id, next_run, stop } = ending
  // HEAD first: it is written last, so that whoever sees it sees what the run is, however early the end comes.
  const head = await world.runs.head(run, [])
  if (head === undefined) return { ok: false, because: 'unknown_run' }
  const meta = await world.runs.meta(run)
  const now = world.clock.now()
  const at = new Date(now).toISOString()
  const named = { ...(block_id === undefined ? {} : { block_id }), ...(next_run === undefined ? {} : { next_run }) }
  const event: NewEvent = {
    type: `run:${state}`,
    // People who stop a run and executions that fail have words of their own.
    data: { code, reason: redactSecrets(reason), ...named, ...judgedAs(meta, ending), ...spentBy(head) },
  }
  // Also where nothing was asked when HEAD was read: a question may come before the end does.
  const told = notifyEntry(world, run, at, 'run_ended')
  const outbox = [
    ...owedBy(meta, ending, at),
    ...told,
    ...anchorOwed(world, at),
    ...triggersTold(world, meta, state, at),
  ]
  const done = await world.runs.append({
    run,
    lane: 'run',
    ordinal: ordinal({ epoch: 0, attempt: 0, phase: TERMINAL[state] }),
    guard: { below: ordinal({ epoch: 0, attempt: 0, phase: PHASE.completed }) },
    ...(ending.while === undefined ? {} : { while: [ending.while] }),
    at,
    events: [event],
    state,
    outbox,
    ...(outbox.length > 0 ? { check_at: new Date(now + OUTBOX_GRACE_MS).toISOString() } : {}),
  })
  // The nudge first: should the mark not be written, the stopped execution still aborts what is in flight.
  if (done.ok && outbox.length > 0) await world.outbox.nudge(run)
  if (done.ok && stop) await world.runs.putStop(run)
  return done
}

/** A run with a goal that came to no judgement failed, or was stopped; one that is iterated says nothing of it yet. */
function judgedAs(
  meta: Meta | undefined,
  { state, final_status = UNJUDGED[state], row }: Ending,
): Pick<EventData<'run:completed'>, 'final_status' | 'row'> {
  if (meta?.goal === undefined || final_status === undefined) return {}
  return { final_status, ...(row === undefined ? {} : { row }) }
}

const UNJUDGED: Readonly<Partial<Record<Ending['state'], FinalStatus>>> = { failed: 'FAILED', cancelled: 'ABORTED' }

/** By the calls recorded until now: an end in the middle of some leaves theirs out. */
function spentBy(head: Head): Pick<EventData<'run:completed'>, 'spent'> {
  const { spent_tokens: tokens, spent_usd_micros: usd_micros } = head.budget
  return { spent: { tokens, usd_micros } }
}

function anchorOwed({ settings }: Pick<World, 'settings'>, at: string): readonly OutboxEntry[] {
  return settings.audit.anchor === 'none' ? [] : [{ id: 'anchor', at, kind: 'anchor' }]
}

/**
 * Triggers of other documents wait for it. A child run is a part of its parent, one that was iterated goes on in another,
 * and a document of one's own is not the deployed one of its name.
 */
function triggersTold(
  { settings }: Pick<World, 'settings'>,
  meta: Meta | undefined,
  state: Ending['state'],
  at: string,
): readonly OutboxEntry[] {
  const { told_ends = [], triggers } = settings
  if (meta === undefined || meta.tenant !== triggers.tenant || state === 'iterated') return []
  if (meta.parent !== undefined || meta.edited !== undefined) return []
  const isTold = told_ends === 'all' || told_ends.includes(meta.dag_name)
  return isTold ? [{ id: 'triggers', at, kind: 'tell_triggers' }] : []
}

function owedBy(meta: Meta | undefined, { stop, code }: Ending, at: string): readonly OutboxEntry[] {
  const entries: OutboxEntry[] = []
  if (stop) entries.push({ id: 'stop', at, kind: 'stop_execution', cause: code })
  if (meta?.parent !== undefined) entries.push({ id: 'answer', at, kind: 'answer_parent' })
  if (meta?.parent === undefined || meta.turn !== undefined) entries.push({ id: 'release', at, kind: 'release_lease' })
  if (meta?.searched === true) entries.push({ id: 'words', at, kind: 'list_words' })
  return entries
}

/**
 * Cancels a run whose deadline has passed (max_run_duration_exceeded); true when it did. The deadline stands still
 * while every runnable block waits, for a person or as its document says, and so does that of a run that waits
 * for a child run: a child's deadline is never behind its parent's but by the time its people took.
 */
export async function endIfOverdue({
  world,
  run,
  head,
  isChild = false,
}: {
  readonly world: Pick<World, 'runs' | 'outbox' | 'clock' | 'settings'>
  readonly run: RunKey
  readonly head: Head
  readonly isChild?: boolean
}): Promise<boolean> {
  if (head.state !== 'running' || !isOver(head, world.clock.now(), isChild)) return false
  // Read again: the end of a pause moves the deadline.
  const whole = await world.runs.head(run)
  if (whole === undefined || !(await isOverdue(world, run, whole, isChild))) return false
  const reason = `the run's deadline ${whole.deadline_at} has passed`
  const code = 'max_run_duration_exceeded'
  const ended = await endRun(world, run, { state: 'cancelled', code, reason, stop: true, while: samePause(whole) })
  return ended.ok
}

/** Whether the deadline of a run has passed and yet does not end it: only people, or what it waits for, can move it on. */
export async function deadlineStandsStill(
  world: Pick<World, 'runs' | 'clock'>,
  run: RunKey,
  head: Head,
): Promise<boolean> {
  if (head.state !== 'running' || !isOver(head, world.clock.now())) return false
  const whole = await world.runs.head(run)
  return whole !== undefined && !(await isOverdue(world, run, whole))
}

/** `head` with every lane. Children have children: their depth is limited. */
async function isOverdue(
  world: Pick<World, 'runs' | 'clock'>,
  { tenant }: RunKey,
  head: Head,
  isChild = false,
): Promise<boolean> {
  if (!isOver(head, world.clock.now(), isChild) || isPaused(head)) return false
  for (const run_id of unfinishedChildIds(head)) {
    const child = await world.runs.head({ tenant, run_id })
    if (child !== undefined && !(await isOverdue(world, { tenant, run_id }, child, true))) return false
  }
  return true
}

/** The deadline of a queued run counts from its release; that of a child, which somebody waits for, does not stand still. */
function isOver({ deadline_at, queued }: Head, now: number, isChild = false): boolean {
  return (isChild || queued !== true) && Date.parse(deadline_at) <= now
}

/** Ids of the child runs whose blocks have no outcome yet. `head` with every lane. */
export function unfinishedChildIds({ children, lanes }: Pick<Head, 'children' | 'lanes'>): readonly string[] {
  return Object.entries(children).flatMap(([lane, child]) =>
    readOrdinal(lanes[lane] ?? 0).outcome === undefined ? [child] : [],
  )
}
