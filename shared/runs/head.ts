import type { Declared } from '../auth/declared-client.ts'
import type { BounceModule } from '../dag/bounce-modules.ts'
import type { RunBudget } from './budget.ts'
import type { ChangedLabels } from './labels.ts'
import { hasOpenQuestion, isOpenWait, laneOwner, type Outcome, readOrdinal } from './lane.ts'

/** Stored run states; `paused_approval` is derived on read, never stored. */
export const RUN_STATES = ['running', 'completed', 'partial', 'blocked', 'failed', 'cancelled', 'iterated'] as const
export type RunState = (typeof RUN_STATES)[number]

export interface HeadApproval {
  readonly block: number
  /** `cancelled`: its block was stopped before anybody decided. */
  readonly status: 'pending' | 'approved' | 'rejected' | 'expired' | 'cancelled'
  readonly expires_at: string
  readonly digest: string
  readonly decided_by?: string
  readonly decided_at?: string
  /** The person, where `decided_by` is not their own name. */
  readonly decided_person?: string
  readonly via?: string
  readonly declared?: Declared
  readonly feedback_ref?: string
  /** What is asked about; absent = a dispatch. */
  readonly about?: AskedAbout
  /** Of the people who approved, in order, where one is not enough. */
  readonly votes?: readonly Vote[]
  /** The inputs the approver changed, as a JSON object. */
  readonly edits_ref?: string
  /** When somebody is to be reminded or asked besides; absent = only the expiry is to come. */
  readonly next_at?: string
  /** How many reminders and escalations came. */
  readonly told?: number
  readonly escalated?: true
  /** Rejected with the wish for another run in place of this one. */
  readonly iterate?: RestartMode
  /** Of a call of an agent: the tool, as its document names it. */
  readonly tool?: string
  /** Nobody is asked before later calls of that tool. */
  readonly rest?: true
  /** Rejected, and its agent is to do nothing more. */
  readonly stop?: true
}

/** `dispatch`: of a block, before its work; the others come up in the middle of an attempt (asks). */
export const ASKED_ABOUT = ['dispatch', 'pre_gates', 'post_gates', 'budget', 'lost_step', 'call'] as const
export type AskedAbout = (typeof ASKED_ABOUT)[number]

/** One person's yes. `at`: ISO time. */
export interface Vote {
  readonly by: string
  /** Where `by` is not their own name. */
  readonly person?: string
  readonly via: string
  readonly declared?: Declared
  readonly at: string
}

/** What the next run of an iteration is given: results and feedback, or the feedback alone. */
export const RESTART_MODES = ['refine', 'from_scratch'] as const
export type RestartMode = (typeof RESTART_MODES)[number]

/** An effect owed to the world, written in the same update as its cause. `id` is unique in the run. */
export type OutboxEntry = { readonly id: string; readonly at: string } & (
  | { readonly kind: 'start_run' }
  /** And every child run its blocks still wait for. */
  | { readonly kind: 'stop_execution'; readonly cause: string }
  | { readonly kind: 'send_token'; readonly approval_id: string }
  /** A child that has ended answers its parent's task tokens. */
  | { readonly kind: 'answer_parent' }
  /** A block that was stopped alone: its child run, if it waits for one, is stopped too. */
  | { readonly kind: 'stop_child'; readonly child: string; readonly cause: string }
  /** A wait has ended, or was stopped: its task tokens are answered. */
  | { readonly kind: 'answer_wait'; readonly wait: string }
  /** Its child runs are paused with it, or go on with it: whatever HEAD says when this is performed. */
  | { readonly kind: 'pause_children' }
  /** Gives back the run's slot among the active ones; the oldest queued run takes it. */
  | { readonly kind: 'release_lease' }
  /** Triggers by the end of runs are told: who keeps their firings removes it. */
  | { readonly kind: 'tell_triggers' }
  /** The end of the run's hash chain is put where nobody can rewrite it (anchors.ts). */
  | { readonly kind: 'anchor' }
  /** It is listed under the words of its outputs, which its document says it is found by. */
  | { readonly kind: 'list_words' }
  /** A caller is told of the answer to its question, where `research.webhook` is configured. */
  | { readonly kind: 'webhook' }
  /**
   * One endpoint of `webhooks` is told of the run's events from `from_seq` on. It stands there from the first update of
   * the run until the endpoint was told of its end: what is owed follows from it and the log (docs/adr/0054).
   */
  | {
      readonly kind: 'endpoint'
      readonly endpoint: string
      readonly from_seq: number
      /** Failed tries of the event at `from_seq`, or the first wanted one after it. */
      readonly tries?: number
      /** Of the first failure since it took a message last. */
      readonly failing_since?: string
      /** No try before. */
      readonly due_at?: string
    }
  /** People are told, where Slack is configured. */
  | { readonly kind: 'notify'; readonly about: NotifyAbout; readonly approval_id?: string }
)

/** What people are told of. */
export type NotifyAbout =
  | 'asked'
  | 'reminded'
  | 'escalated'
  | 'voted'
  | 'decided'
  | 'expired'
  | 'cancelled'
  | 'run_ended'

/**
 * What HEAD knows of one bounce module (lane `m<k>`): how often it was sent back, and for each rule that fired, by
 * `<block index>.<rule>`, how often and in which epoch last. The epoch of a block is the greatest `epoch` among the
 * rules that reset it, or that in `also` (0 = none): blocks of the module that were not reset keep their outputs.
 */
export interface HeadModule {
  readonly epoch: number
  readonly rules: Readonly<Record<string, FiredRule>>
  /** Epochs of blocks no rule names, by index: they were skipped, and what they waited for has begun again. */
  readonly also?: Readonly<Record<string, number>>
}

/** `feedback_ref`: JSON lines, the verdicts that sent the blocks back; their next prompts carry them. */
export interface FiredRule {
  readonly count: number
  readonly epoch: number
  readonly feedback_ref?: string
}

/** When a run ended, and why. */
export interface RunEnding {
  readonly at: string
  readonly code: string
  readonly reason: string
}

/** The HEAD item as readers see it: the one serialisation point of a run (docs/architecture.md, "HEAD"). */
export interface Head {
  readonly state: RunState
  /** seq of the newest event. */
  readonly seq: number
  /** Lane key -> ordinal, item lanes among them; only the lanes asked for when the reader named some. */
  readonly lanes: Readonly<Record<string, number>>
  /** Lane keys with an attempt in flight: `3`, or `3.12` for an item of a foreach block. */
  readonly running: readonly string[]
  readonly approvals: Readonly<Record<string, HeadApproval>>
  /** Bounce modules by number; one that never bounced is absent (epoch 0). */
  readonly modules: Readonly<Record<string, HeadModule>>
  /** Child runs by lane of the block that waits for them. */
  readonly children: Readonly<Record<string, string>>
  readonly deadline_at: string
  /** When the sweeper must look at this run; present while the run lives or its outbox is not empty. */
  readonly check_at?: string
  readonly outbox: readonly OutboxEntry[]
  readonly budget: RunBudget
  /** Of bodies, as appends told it (docs/adr/0068); absent in runs that began before they were counted. */
  readonly stored_bytes?: number
  /** Of a run that has ended: as its last event says. Absent also in runs that ended before it was kept. */
  readonly ended?: RunEnding
  /** It waits for a slot among the active runs, or did so to its end; never false. */
  readonly queued?: true
  /** It holds no slot; absent = it has one, waits for its first, or is the child of a run that has. */
  readonly resting?: Rest
  /** Nothing of it begins, and its deadlines stand still; absent = it goes on. */
  readonly paused?: Paused
  /** Since somebody changed them; before, META has those it was started with. */
  readonly labels?: ChangedLabels
}

/** A live run that gave its slot back, since only people, or what it waits for, could move it on (docs/adr/0101). ISO times. */
export interface Rest {
  readonly since: string
  /** Something is to go on, and no slot was free: its rank in the queue. */
  readonly wants_at?: string
}

/**
 * A run that is paused finishes what runs and starts nothing; its deadlines stand still (docs/adr/0104). HEAD says so in
 * `paused`; lane `pause` counts the pauses, and whatever begins something asks that it stands where it was read.
 */
export interface Paused {
  /** ISO time. */
  readonly since: string
  readonly by: string
  /** The person, where `by` is not their own name. */
  readonly person?: string
  readonly reason?: string
  /** The run above it that is paused: it goes on with that one. */
  readonly parent?: string
}

/** Where the blocks of a document stand in HEAD: their lanes by index, and the bounce modules some of them are in. */
export interface BlockPositions {
  readonly index: ReadonlyMap<string, number>
  readonly moduleOf: ReadonlyMap<string, BounceModule>
}

/** Epoch a block is in, as HEAD says: the greatest in which it was reset; 0 = it never was. */
export function blockEpoch({ moduleOf, index }: BlockPositions, head: Pick<Head, 'modules'>, id: string): number {
  const module = moduleOf.get(id)
  const fired = module === undefined ? undefined : head.modules[String(module.key)]
  if (module === undefined || fired === undefined) return 0
  const resets = module.rules.filter(({ hull }) => hull.includes(id))
  const also = fired.also?.[String(index.get(id))] ?? 0
  return Math.max(also, ...resets.map(({ key }) => fired.rules[key]?.epoch ?? 0))
}

/** The ordinal of a block in its own epoch; undefined before its first event there. */
export function blockOrdinal(
  places: BlockPositions,
  head: Pick<Head, 'lanes' | 'modules'>,
  id: string,
): number | undefined {
  const lane = head.lanes[String(places.index.get(id))]
  return lane === undefined || readOrdinal(lane).epoch < blockEpoch(places, head, id) ? undefined : lane
}

/** How a block ended in its own epoch; undefined while it has not. */
export function blockOutcome(
  places: BlockPositions,
  head: Pick<Head, 'lanes' | 'modules'>,
  id: string,
): Outcome | undefined {
  return readOrdinal(blockOrdinal(places, head, id) ?? 0).outcome
}

/** How the items of a foreach block stand, of its own epoch. */
interface ItemsNow {
  /** Failed for good: no try is left. */
  readonly failed: number
  /** With an attempt in flight, or a question about it that nobody answered. */
  readonly at_work: number
}

export function itemsNow({ lanes, running }: Pick<Head, 'lanes' | 'running'>, block: number, epoch: number): ItemsNow {
  const now = { failed: 0, at_work: 0 }
  for (const [key, lane] of Object.entries(lanes)) {
    const owner = laneOwner(key)
    const place = readOrdinal(lane)
    if (owner?.block !== block || owner.item === undefined || place.epoch !== epoch) continue
    if (place.outcome === 'failed') now.failed += 1
    else if (isAtWork(key, lane, running)) now.at_work += 1
  }
  return now
}

function isAtWork(key: string, lane: number, running: readonly string[]): boolean {
  if (readOrdinal(lane).outcome !== undefined) return false
  return running.includes(key) || hasOpenQuestion(lane) || isOpenWait(lane)
}

/** States that are derived on read, never stored: while a run waits for a slot, while only people, or what it waits for, can move it on, and while it is paused. */
export const SHOWN_STATES = ['pending', 'paused_approval', 'waiting', 'paused'] as const
export type ShownState = RunState | (typeof SHOWN_STATES)[number]

/**
 * The state people see: `pending` is a run that waits for a slot, its first or the one it goes on with; `paused_approval` is a running run in which an approval is pending and
 * no block is claimed, retrying or in flight, but for attempts that wait for such an answer themselves; `waiting` is one
 * in which nobody is asked and everything that could run waits as its document says; `paused` is one that somebody paused,
 * whatever of it is still at work. None is ever stored.
 */
export function shownState(head: Head): ShownState {
  if (head.state === 'running' && head.paused !== undefined) return 'paused'
  if (head.state === 'running' && (head.queued === true || head.resting?.wants_at !== undefined)) return 'pending'
  if (head.state !== 'running' || head.running.length > 0) return head.state
  const asked = Object.values(head.approvals).flatMap(({ status, block }) => (status === 'pending' ? [block] : []))
  if (asked.length === 0 && openWaits(head).length === 0) return head.state
  if (isBusy(head, new Set(asked))) return head.state
  return asked.length === 0 ? 'waiting' : 'paused_approval'
}

/** While a run is in one of these states its deadline stands still. */
export function isPaused(head: Head): boolean {
  const state = shownState(head)
  return STANDING.has(state) || head.resting?.wants_at !== undefined
}

const STANDING: ReadonlySet<ShownState> = new Set(['paused_approval', 'waiting', 'paused'])

/** Lanes of blocks, or items, that wait. A claim that is in flight may have such an ordinal too. */
export function openWaits({ lanes, running }: Pick<Head, 'lanes' | 'running'>): readonly string[] {
  return Object.entries(lanes).flatMap(([key, lane]) => {
    return isOpenWait(lane) && laneOwner(key) !== undefined && !running.includes(key) ? [key] : []
  })
}

/** A fan-out whose items wait, for an answer or as its document says, waits with them: further ones begin behind those. */
function isBusy({ lanes }: Head, asked: ReadonlySet<number>): boolean {
  const open = Object.entries(lanes).flatMap(([key, lane]) => {
    const owner = laneOwner(key)
    if (owner === undefined || readOrdinal(lane).outcome !== undefined) return []
    return [{ ...owner, waits: isOpenWait(lane) || (hasOpenQuestion(lane) && asked.has(owner.block)) }]
  })
  const waiting = new Set(open.flatMap(({ block, item, waits }) => (waits && item !== undefined ? [block] : [])))
  return open.some(({ block, item, waits }) => !waits && (item !== undefined || !waiting.has(block)))
}

/** How long an outbox entry may lie before the sweeper performs it. */
export const OUTBOX_GRACE_MS = 60_000
const RECONCILE_MS = 300_000
/** Of a run that waits for people: after as long as it has waited, and then each day. */
const LONGEST_RECONCILE_MS = 86_400_000

/**
 * When the sweeper must look at a run next: min(deadline, next reminder, escalation or expiry of an approval, oldest
 * unsent outbox entry + 60 s, a look at the execution each 5 minutes or, while only people are waited for, ever less often, the
 * next stall check or end of a wait); undefined when it is terminal and owes nothing. Nothing of a paused run is due but what it
 * owes and that look. The deadline of a queued run has not begun. `deadline_at` undefined: it has passed and stands still, and
 * whatever ends the pause moves it.
 */
export function nextCheck(head: Checked, now: number, stallAt?: number): string | undefined {
  const owed = head.outbox.filter((entry) => !isHeldBack(head, entry))
  const times = owed.flatMap((entry) => sendingTimes(entry, head.state))
  if (head.state === 'running') times.push(now + reconcileAfter(head, now, stallAt))
  if (head.state === 'running' && head.paused === undefined) times.push(...dueTimes(head, now, stallAt))
  return times.length === 0 ? undefined : new Date(Math.min(...times)).toISOString()
}

type Checked = Pick<Head, 'state' | 'approvals' | 'outbox' | 'queued' | 'resting' | 'paused'> & {
  readonly deadline_at: string | undefined
}

function dueTimes({ approvals, deadline_at, queued }: Checked, now: number, stallAt?: number): readonly number[] {
  const times = Object.values(approvals).flatMap((one) => (one.status === 'pending' ? [Date.parse(nextOf(one))] : []))
  if (queued !== true && deadline_at !== undefined) times.push(Math.max(Date.parse(deadline_at), now + 1_000))
  if (stallAt !== undefined) times.push(stallAt)
  return times
}

/**
 * The look at an execution finds what was told to nobody: that it ended, or an event a wait is for. A run that people alone can
 * move has neither task nor wait, thousands may be open for weeks, and each look of each of them is paid for.
 */
function reconcileAfter({ approvals, paused, resting }: Checked, now: number, stallAt: number | undefined): number {
  const isAsking = stallAt === undefined && Object.values(approvals).some(({ status }) => status === 'pending')
  const waitsForPeople = isAsking || paused !== undefined
  if (!waitsForPeople || resting === undefined || resting.wants_at !== undefined) return RECONCILE_MS
  return Math.min(Math.max(RECONCILE_MS, now - Date.parse(resting.since)), LONGEST_RECONCILE_MS)
}

/** What would let a run go on that waits for its slot, or is paused: whoever gives it one, or lets it go on, sends that. */
export function isHeldBack(
  { state, resting, paused }: Pick<Head, 'state' | 'resting' | 'paused'>,
  { kind }: OutboxEntry,
): boolean {
  const stands = resting?.wants_at !== undefined || paused !== undefined
  return state === 'running' && stands && (kind === 'send_token' || kind === 'answer_wait')
}

/** What an endpoint is owed of a run that lives, whoever wrote its event has asked for in time; or it is tried again then. */
function sendingTimes(entry: OutboxEntry, state: Head['state']): readonly number[] {
  if (entry.kind === 'endpoint' && entry.due_at !== undefined) return [Date.parse(entry.due_at)]
  return entry.kind === 'endpoint' && state === 'running' ? [] : [Date.parse(entry.at) + OUTBOX_GRACE_MS]
}

/** A reminder, an escalation or the expiry, whichever comes first. */
function nextOf({ next_at, expires_at }: Head['approvals'][string]): string {
  return earlierTime(next_at, expires_at)
}

/** The earlier of two ISO times; writers may only move check_at earlier. */
export function earlierTime(a: string | undefined, b: string): string {
  return a !== undefined && a < b ? a : b
}
