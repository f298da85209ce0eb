import type { OnConflict } from '../dag/dag.ts'
import { sha256 } from '../text/hash.ts'
import { canonicalJson, type Json } from '../text/json.ts'

/**
 * Runs of one document and one key that take turns (docs/adr/0099): the rules, as functions of what is stored. Each change
 * is one compare-and-set of the whole queue, so whoever acts at the same time acts one after the other.
 */

/** What of `concurrency` a run is pinned to. */
export interface RunTurn {
  /** Names the queue: a hash of the document's name and the value of its key, which stands nowhere else. */
  readonly queue: string
  /** Runs of the queue that may go on at once, as this run's document says. */
  readonly limit: number
  readonly on_conflict: OnConflict
}

export interface KeyQueueName {
  readonly tenant: string
  readonly queue: string
}

export interface KeyQueue {
  /** They have begun, and have not ended. */
  readonly running: readonly RunningTurn[]
  /** In the order in which they begin. */
  readonly waiting: readonly WaitingTurn[]
}

interface Turn {
  readonly run_id: string
  /** It is to end: another run takes its place. */
  readonly ends?: TurnEnd
}

interface TurnEnd {
  readonly code: 'concurrency_cancelled' | 'concurrency_replaced'
  /** The run it ends for. */
  readonly by: string
}

export interface RunningTurn extends Turn {
  /** ISO time. */
  readonly since: string
}

export interface WaitingTurn extends Turn {
  readonly limit: number
  /** ISO time it came; never before that of one that came earlier, whatever clocks say. */
  readonly at: string
  /** Seconds by which it stands as if it had come earlier. */
  readonly priority: number
  /** A run waits for it, so it goes before those nobody waits for. */
  readonly child?: true
  /** It has a slot among the active runs and lacks its turn alone: children that come from then on go behind it. */
  readonly slot_since?: string
  /** ISO time its turn had come first. */
  readonly ready_at?: string
}

export const EMPTY_QUEUE: KeyQueue = { running: [], waiting: [] }

/** Runs that may wait for one key: the queue is one item, rewritten by each change. */
export const MOST_WAITING = 200

/** The queue of a key's value; undefined: of a document that names no key, whose runs are one queue. */
export function keyQueueName(dag_name: string, value: Json | undefined): string {
  return sha256(canonicalJson(value === undefined ? [dag_name] : [dag_name, value]))
}

/** A run that comes. */
export interface Comer {
  readonly run_id: string
  readonly turn: RunTurn
  readonly priority: number
  readonly child: boolean
}

export type Entered =
  /** Stands in it, now or already. */
  | { readonly is: 'in'; readonly queue: KeyQueue }
  /** `skip`, and as many as may go on, or are about to. */
  | { readonly is: 'skipped' }
  | { readonly is: 'full' }

/** A run comes to its queue. Whoever repeats it changes nothing. */
export function enterQueue(queue: KeyQueue, comer: Comer, now: string): Entered {
  const { run_id, turn, priority, child } = comer
  if (standsIn(queue, run_id)) return { is: 'in', queue }
  const busy = queue.running.length + staying(queue.waiting).length
  if (turn.on_conflict === 'skip' && busy >= turn.limit) return { is: 'skipped' }
  if (queue.waiting.length >= MOST_WAITING) return { is: 'full' }
  const [at = now] = [now, ...queue.waiting.map((one) => one.at)].sort().toReversed()
  const mine: WaitingTurn = { run_id, limit: turn.limit, at, priority, ...(child ? { child } : {}) }
  const others = busy < turn.limit ? queue : marked(queue, comer)
  const waiting = inserted(others.waiting, mine)
  return { is: 'in', queue: withReady({ ...others, waiting }, now) }
}

function standsIn({ running, waiting }: KeyQueue, run_id: string): boolean {
  return running.some((one) => one.run_id === run_id) || waiting.some((one) => one.run_id === run_id)
}

function staying<T extends Turn>(turns: readonly T[]): readonly T[] {
  return turns.filter(({ ends }) => ends === undefined)
}

/** Those that end for a run that comes while as many go on as may. */
function marked(queue: KeyQueue, { run_id: by, turn }: Comer): KeyQueue {
  if (turn.on_conflict === 'replace_queued') {
    return { ...queue, waiting: queue.waiting.map((one) => withEnd(one, { code: 'concurrency_replaced', by })) }
  }
  if (turn.on_conflict !== 'cancel_running') return queue
  // The newest of them go on, itself among them: as many of the older ones end as are too many.
  const oldest = [...queue.running, ...queue.waiting.toSorted((a, b) => (a.at < b.at ? -1 : Number(a.at > b.at)))]
  const ending = new Set(oldest.slice(0, oldest.length + 1 - turn.limit).map(({ run_id }) => run_id))
  const end = <T extends Turn>(one: T) =>
    ending.has(one.run_id) ? withEnd(one, { code: 'concurrency_cancelled', by }) : one
  return { running: queue.running.map(end), waiting: queue.waiting.map(end) }
}

/** What it ends for first stays. */
function withEnd<T extends Turn>(turn: T, ends: TurnEnd): T {
  return turn.ends === undefined ? { ...turn, ends } : turn
}

/** Behind all that go before it, and those of the same rank. */
function inserted(waiting: readonly WaitingTurn[], mine: WaitingTurn): readonly WaitingTurn[] {
  const index = waiting.findIndex((other) => goesBefore(mine, other))
  return index === -1 ? [...waiting, mine] : waiting.toSpliced(index, 0, mine)
}

function goesBefore(a: WaitingTurn, b: WaitingTurn): boolean {
  const [first, second] = [urgentSince(a), urgentSince(b)]
  if (first !== undefined || second !== undefined)
    return first !== undefined && (second === undefined || first < second)
  return rankOf(a) < rankOf(b)
}

/** A child from when it came on; another run from when it had a slot: whoever holds one must not wait for who has none. */
function urgentSince({ child, at, slot_since }: WaitingTurn): string | undefined {
  return child === true ? at : slot_since
}

/** Milliseconds since 1970 at which a run stands as if it had come. */
function rankOf({ at, priority }: Pick<WaitingTurn, 'at' | 'priority'>): number {
  return Date.parse(at) - priority * 1_000
}

/**
 * Those whose turn has come: from the first on, as many as may begin in any order without one of them being over its own
 * limit, which is that of its own document. Where one must wait all behind it do.
 */
export function readyTurns({ running, waiting }: KeyQueue): readonly WaitingTurn[] {
  const ready: WaitingTurn[] = []
  let least = Number.POSITIVE_INFINITY
  for (const one of staying(waiting)) {
    least = Math.min(least, one.limit)
    if (running.length + ready.length >= least) return ready
    ready.push(one)
  }
  return ready
}

/** Those whose turn has come with a change. */
export function newlyReady(before: KeyQueue, after: KeyQueue): readonly WaitingTurn[] {
  const known = new Set(readyTurns(before).map(({ run_id }) => run_id))
  return readyTurns(after).filter(({ run_id }) => !known.has(run_id))
}

function withReady(queue: KeyQueue, now: string): KeyQueue {
  const ready = new Set(readyTurns(queue).map(({ run_id }) => run_id))
  const waiting = queue.waiting.map((one) =>
    ready.has(one.run_id) && one.ready_at === undefined ? { ...one, ready_at: now } : one,
  )
  return { ...queue, waiting }
}

/** What became of a run that is to begin. */
export interface Begun {
  /** `waits`: it has its slot, and is the next but for those before it. `gone`: it stands in no queue, or is to end. */
  readonly is: 'running' | 'waits' | 'gone'
  readonly queue: KeyQueue
}

/** A run that has its slot begins, if its turn has come. Whoever repeats it changes nothing. */
export function beginTurn(queue: KeyQueue, run_id: string, now: string): Begun {
  if (queue.running.some((one) => one.run_id === run_id)) return { is: 'running', queue }
  const mine = queue.waiting.find((one) => one.run_id === run_id)
  if (mine === undefined || mine.ends !== undefined) return { is: 'gone', queue }
  const others = queue.waiting.filter((one) => one !== mine)
  if (readyTurns(queue).includes(mine)) {
    const running = [...queue.running, { run_id, since: now }]
    return { is: 'running', queue: withReady({ running, waiting: others }, now) }
  }
  if (mine.slot_since !== undefined) return { is: 'waits', queue }
  const waiting = inserted(others, { ...mine, slot_since: now })
  return { is: 'waits', queue: withReady({ ...queue, waiting }, now) }
}

/** Runs that have ended leave, wherever they stand. */
export function leaveQueue(queue: KeyQueue, ended: ReadonlySet<string>, now: string): KeyQueue {
  const goesOn = ({ run_id }: Turn) => !ended.has(run_id)
  const left = { running: queue.running.filter(goesOn), waiting: queue.waiting.filter(goesOn) }
  const isSame = left.running.length === queue.running.length && left.waiting.length === queue.waiting.length
  return isSame ? queue : withReady(left, now)
}

/** Those that are to end for another run, and have not yet. */
export function endingTurns({ running, waiting }: KeyQueue): readonly (Turn & { readonly ends: TurnEnd })[] {
  return [...running, ...waiting].flatMap((one) => (one.ends === undefined ? [] : [{ ...one, ends: one.ends }]))
}

/** Where a run stands that waits: how many go before it, and who, the nearest first. */
export function standingBefore({ waiting }: KeyQueue, run_id: string): readonly WaitingTurn[] | undefined {
  const stay = staying(waiting)
  const index = stay.findIndex((one) => one.run_id === run_id)
  return index === -1 ? undefined : stay.slice(0, index).toReversed()
}

/** Rank in the queue for slots: when it came there, and its priority. */
export function slotRank(at: string, priority = 0): string {
  return new Date(Date.parse(at) - priority * 1_000).toISOString()
}
