import type { Dag } from '../../shared/dag/dag.ts'
import { Fault } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import { inputNames } from '../../shared/runs/block-inputs.ts'
import { earlierTime, OUTBOX_GRACE_MS } from '../../shared/runs/head.ts'
import {
  beginTurn,
  endingTurns,
  enterQueue,
  type KeyQueue,
  type KeyQueueName,
  keyQueueName,
  leaveQueue,
  MOST_WAITING,
  newlyReady,
  type RunTurn,
  readyTurns,
  slotRank,
  standingBefore,
  type WaitingTurn,
} from '../../shared/runs/key-queue.ts'
import type { Meta, RunKey } from '../../shared/runs/run-store.ts'
import type { Json } from '../../shared/text/json.ts'
import type { World } from '../../shared/world.ts'
import { endRun } from './end-run.ts'

/**
 * Runs of one key take turns (docs/adr/0099). A run is made first, queued, and comes to its key's queue then: whoever stands in
 * it has a HEAD, and leaves only with the end that this one tells. Who dies in between is found by the sweep, which looks at
 * each queued run and at its queue.
 */

type TurnWorld = Pick<World, 'runs' | 'outbox' | 'clock' | 'settings'>

const KEY_RULE = `a text of at most ${LIMITS.key_characters} characters, a number, true or false`

/** The queue a run of this document stands in. Faults InvalidInput concurrency_key_failed, concurrency_key_value (422). */
export async function turnOf(
  { isolate }: Pick<World, 'isolate'>,
  tenant: string,
  dag: Dag,
  context: Readonly<Record<string, Json>>,
): Promise<RunTurn | undefined> {
  if (dag.concurrency === undefined) return undefined
  const { key, limit, on_conflict } = dag.concurrency
  if (key === undefined) return { queue: keyQueueName(dag.name, undefined), limit, on_conflict }
  const given = inputNames(dag).flatMap((name) => {
    const value = Object.hasOwn(context, name) ? context[name] : undefined
    return value === undefined ? [] : [[name, value] as const]
  })
  const input = { inputs: Object.fromEntries(given) }
  const answer = await isolate.run('transform', { program: key, input }, undefined, { tenant })
  if (!answer.ok) {
    const why = answer.because === 'error' ? answer.message.slice(0, 300) : `it ran over its ${answer.because}`
    const message = `Cannot start DAG "${dag.name}": its concurrency key ${key} could not be computed: ${why}. Give other inputs, or change concurrency.key.`
    throw new Fault('InvalidInput', 'concurrency_key_failed', message, { status: 422 })
  }
  if (!isKey(answer.value)) throw noKey(dag.name, key, answer.value)
  return { queue: keyQueueName(dag.name, answer.value), limit, on_conflict }
}

function isKey(value: Json | undefined): value is string | number | boolean {
  if (typeof value === 'string') return value.length <= LIMITS.key_characters
  return typeof value === 'number' || typeof value === 'boolean'
}

function noKey(name: string, key: string, value: Json | undefined): Fault {
  const text = typeof value === 'string' ? `a text of ${value.length} characters` : kindOf(value)
  const message = `Cannot start DAG "${name}": its concurrency key ${key} came to ${text}; allowed is ${KEY_RULE}. Give the input, or change concurrency.key.`
  return new Fault('InvalidInput', 'concurrency_key_value', message, { status: 422 })
}

function kindOf(value: Json | undefined): string {
  if (value === undefined || value === null) return 'no value'
  return Array.isArray(value) ? 'a list' : 'an object'
}

/** A run and what META says of its turn. */
type Turned = Meta & { readonly turn: RunTurn }

export function hasTurn(meta: Meta | undefined): meta is Turned {
  return meta?.turn !== undefined
}

function nameOf({ tenant, turn }: Turned): KeyQueueName {
  return { tenant, queue: turn.queue }
}

/**
 * Before a run is made: Fault Conflict concurrency_skipped where its document says `skip` and as many go on as may. What comes
 * in between ends the run when it comes to its queue.
 */
export async function refuseSkipped(world: TurnWorld, tenant: string, turn: RunTurn | undefined): Promise<void> {
  if (turn?.on_conflict !== 'skip') return
  const name = { tenant, queue: turn.queue }
  const seen = await world.runs.keyQueue(name)
  if (!isBusy(seen, turn)) return
  const now = await dropEnded(world, name, seen)
  if (isBusy(now, turn)) throw skipped(now)
}

function isBusy({ running, waiting }: KeyQueue, { limit }: RunTurn): boolean {
  return running.length + waiting.length >= limit
}

function skipped({ running, waiting }: KeyQueue): Fault {
  const runs = [...running, ...waiting].slice(0, 5).map(({ run_id }) => run_id)
  const message = `Cannot start: ${runs.length === 1 ? 'run' : 'runs'} ${runs.join(', ')} of the same concurrency key ${runs.length === 1 ? 'goes' : 'go'} on (on_conflict: skip). Start it when that has ended, or stop it with \`sluice run stop\`.`
  return new Fault('Conflict', 'concurrency_skipped', message, { facts: { runs } })
}

/**
 * A queued run comes to its key's queue, or is found there; what follows from how the queue stands then is done. Safe to
 * repeat. Answers why it does not stay, which has ended it.
 */
export async function comeToTurn(world: TurnWorld, meta: Turned): Promise<Fault | undefined> {
  for (;;) {
    const came = await tryToCome(world, meta)
    if (came !== 'again') return came
  }
}

/** `again`: the queue was changed in between. */
async function tryToCome(world: TurnWorld, meta: Turned): Promise<Fault | 'again' | undefined> {
  const { tenant, run_id, turn, priority = 0 } = meta
  const name = nameOf(meta)
  const seen = await world.runs.keyQueue(name)
  const entered = enterQueue(seen, { run_id, turn, priority, child: meta.parent !== undefined }, isoNow(world))
  if (entered.is !== 'in') {
    if ((await dropEnded(world, name, seen)) !== seen) return 'again'
    return endRefused(world, { tenant, run_id }, entered.is === 'skipped' ? skipped(seen) : full())
  }
  const { queue } = entered
  const isNew = queue !== seen
  if (isNew && !(await world.runs.putKeyQueue(name, queue, seen.version))) return 'again'
  await endOthers(world, tenant, queue)
  const now = looksAround(queue, run_id, isNew) ? await dropEnded(world, name, queue, queue.running) : queue
  // Itself again: whoever was to send it on may have died.
  const mine = readyTurns(now).filter((one) => one.run_id === run_id)
  await sendOn(world, tenant, [...newlyReady(seen, now).filter((one) => one.run_id !== run_id), ...mine])
  return undefined
}

async function endRefused(world: TurnWorld, run: RunKey, fault: Fault): Promise<Fault> {
  const { code, message: reason } = fault
  await endRun(world, run, { state: 'cancelled', code, reason, stop: false })
  return fault
}

/** Whether those it waits for may have ended, says each one that comes, and later the first that waits. */
function looksAround(queue: KeyQueue, run_id: string, isNew: boolean): boolean {
  if (readyTurns(queue).some((one) => one.run_id === run_id)) return false
  return isNew || standingBefore(queue, run_id)?.length === 0
}

function full(): Fault {
  const message = `Cannot start: ${MOST_WAITING} runs wait for this concurrency key, as many as may. Try again when some of them have begun.`
  return new Fault('LimitExceeded', 'concurrency_queue_full', message, { facts: { waiting: MOST_WAITING } })
}

function isoNow({ clock }: Pick<World, 'clock'>): string {
  return new Date(clock.now()).toISOString()
}

/** Runs that are to end for others. */
async function endOthers(world: TurnWorld, tenant: string, queue: KeyQueue): Promise<void> {
  for (const { run_id, ends } of endingTurns(queue)) {
    const run = { tenant, run_id }
    const words =
      ends.code === 'concurrency_cancelled'
        ? `run ${ends.by} of the same concurrency key was started (on_conflict: cancel_running)`
        : `run ${ends.by} of the same concurrency key took its place in the queue (on_conflict: replace_queued)`
    await endRun(world, run, { state: 'cancelled', code: ends.code, reason: words, stop: true })
  }
}

/** Runs whose turn has come: those of callers go on to a slot, children need none. */
async function sendOn(world: TurnWorld, tenant: string, ready: readonly WaitingTurn[]): Promise<void> {
  for (const { run_id, child, ready_at, at, priority } of ready) {
    const run = { tenant, run_id }
    if (child === true) await letBegin(world, run)
    // Keys take turns at slots, however many runs each of them has: a run stands there from when its turn came.
    else await world.runs.enqueue({ ...run, at: slotRank(ready_at ?? at, priority) })
  }
}

const TOGETHER = 10

/** Runs that have ended and did not leave: whoever ended them died before that. Answers the queue without them. */
async function dropEnded(
  world: TurnWorld,
  name: KeyQueueName,
  seen: KeyQueue,
  among: readonly { readonly run_id: string }[] = [...seen.running, ...seen.waiting.slice(0, LIMITS.concurrency)],
): Promise<KeyQueue> {
  const stood = among.map(({ run_id }) => run_id)
  const ended = new Set<string>()
  for (let i = 0; i < stood.length; i += TOGETHER) {
    const some = stood.slice(i, i + TOGETHER)
    const heads = await Promise.all(some.map((run_id) => world.runs.head({ tenant: name.tenant, run_id }, [])))
    for (const [index, head] of heads.entries()) if (head?.state !== 'running') ended.add(some[index] ?? '')
  }
  return ended.size === 0 ? seen : (await leave(world, name, ended)).after
}

async function leave(world: TurnWorld, name: KeyQueueName, ended: ReadonlySet<string>) {
  for (;;) {
    const before = await world.runs.keyQueue(name)
    const after = leaveQueue(before, ended, isoNow(world))
    if (after === before || (await world.runs.putKeyQueue(name, after, before.version))) return { before, after }
  }
}

/** A run that has ended leaves its queue, and who comes next goes on. */
export async function leaveTurn(world: TurnWorld, meta: Turned): Promise<void> {
  const { before, after } = await leave(world, nameOf(meta), new Set([meta.run_id]))
  // It left before, and whoever did that may have died: all whose turn it is are sent on again.
  await sendOn(world, meta.tenant, before === after ? readyTurns(after) : newlyReady(before, after))
}

/** `waits`: it lacks its turn, and keeps its slot until that has come. `gone`: it has begun before, has ended, is paused, or is to. */
export type Beginning = 'began' | 'waits' | 'gone'

/**
 * A queued run that has its slot, or needs none, begins, if its turn has come: from here on it owes its start. Whoever
 * released it before, or ended it, keeps what is recorded.
 */
export async function letBegin(world: TurnWorld, run: RunKey): Promise<Beginning> {
  const { runs, clock, settings } = world
  const meta = await runs.meta(run)
  // Whoever lets it go on brings it back to its queue.
  if ((await runs.head(run, []))?.paused !== undefined) return 'gone'
  if (hasTurn(meta)) {
    const turn = await takeTurn(world, meta)
    if (turn !== 'running') return turn
  }
  const now = clock.now()
  const at = new Date(now).toISOString()
  const seconds = meta?.options.deadline_sec ?? settings.safety.max_run_sec
  const own = new Date(now + seconds * 1_000).toISOString()
  // A child may not outlive its parent, however long it waited.
  const most = meta?.parent === undefined ? undefined : (await runs.head(run, []))?.deadline_at
  const deadline_at = earlierTime(most, own)
  const check_at = earlierTime(deadline_at, new Date(now + OUTBOX_GRACE_MS).toISOString())
  if (await runs.releaseQueued(run, { at, deadline_at, check_at })) {
    await world.outbox.nudge(run)
    return 'began'
  }
  // It ended while it took its turn, and may have left its queue before that.
  if (hasTurn(meta) && (await runs.head(run, []))?.state !== 'running') await leaveTurn(world, meta)
  return 'gone'
}

async function takeTurn(world: TurnWorld, meta: Turned): Promise<'running' | 'waits' | 'gone'> {
  const name = nameOf(meta)
  for (;;) {
    const seen = await world.runs.keyQueue(name)
    const { is, queue } = beginTurn(seen, meta.run_id, isoNow(world))
    if (queue === seen) return is
    if (!(await world.runs.putKeyQueue(name, queue, seen.version))) continue
    // A later one may have waited only because this one could have begun after it.
    const others = newlyReady(seen, queue).filter(({ run_id }) => run_id !== meta.run_id)
    await sendOn(world, meta.tenant, others)
    // With its slot it may stand before those that were before it, and it is its turn.
    if (is === 'running' || readyTurns(queue).every(({ run_id }) => run_id !== meta.run_id)) return is
  }
}
