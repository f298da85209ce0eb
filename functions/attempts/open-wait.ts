import * as z from 'zod'
import { placeholderValue, renderTemplate } from '../../shared/dag/template.ts'
import { Fault, MachineSignal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { EventData } from '../../shared/runs/event.ts'
import { openWaits } from '../../shared/runs/head.ts'
import { isOpenWait, laneKey, ordinal, PHASE, readOrdinal } from '../../shared/runs/lane.ts'
import { EVENT_KEY_RULE, isEventKey } from '../../shared/runs/outside-event.ts'
import { LEAST_REST_MS } from '../../shared/runs/rest.ts'
import { eventPosition } from '../../shared/runs/run-fold.ts'
import type { Append } from '../../shared/runs/run-store.ts'
import { type WaitPlace, waitId } from '../../shared/runs/wait-store.ts'
import { durationWords, isTime } from '../../shared/text/duration.ts'
import type { Json } from '../../shared/text/json.ts'
import { shortRedacted } from '../../shared/text/short-text.ts'
import type { World } from '../../shared/world.ts'
import { functionHandler, type HostContext } from '../handler.ts'
import { MachineInputSchema, toRunKey } from '../record/pinned-run.ts'
import { readOwnProjection } from '../record/projections.ts'
import { allEvents } from '../record/run-log.ts'
import { leaveSlot, restFrom, restIfIdle } from '../runs/rest.ts'
import { endByWhatIsKept, endDueWait, findWait } from '../runs/waits.ts'
import { advanceBlock, advanceItem, failBlockOnFault } from './advance.ts'
import type { Failure } from './attempt-outcome.ts'
import { appendBase, type BlockCall, eventBase, laneOwnerOf, readHead } from './block-call.ts'
import { type BlockReport, reportBlock, reportRecorded, retryBlock } from './block-report.ts'
import { claimAttempt, findNextAttempt, type OpenAttempt, recordPreGateVerdicts } from './claim.ts'
import { finishAttempt, skipBlock } from './end.ts'
import { failOfItems } from './foreach.ts'
import { isHeld } from './hold.ts'
import { storeInputs } from './inputs.ts'
import { openBlockCall } from './open-block-call.ts'
import { askUnlessOver, type PreparedAttempt, prepareAttempt } from './prepare.ts'

const InputSchema = z.strictObject({
  in: MachineInputSchema,
  block: z.string().min(1),
  /** Absent: `_until_<id>`, which asks how long the state behind it may wait. */
  token: z.string().min(1).optional(),
  e: z.int().min(0).optional(),
  item: z.int().min(0).optional(),
})

/**
 * `<id>` of a `mode: wait` block: begins its wait, whose end answers the task token. Where there is nothing to wait for (a
 * skip, a refusal, what came before it) the token is answered at once and `_close_<id>` does the rest (docs/adr/0073).
 */
export const handler = functionHandler({
  name: 'open-wait',
  input: InputSchema,
  async run({ in: input, token, ...place }, world, host) {
    const call = await openBlockCall(world, toRunKey(input), place)
    // `_close_<id>` finds the same and waits.
    const until = isHeld(call) ? undefined : await waitsUntil(call, token, host)
    if (token !== undefined && until === undefined) await world.machine.answer(token, { ok: {} })
    return token === undefined ? { s: secondsTo(world, until), ...(place.e === undefined ? {} : { e: place.e }) } : {}
  },
})

/** A second on top, as in shared/compile/emit-block.ts: a wait that is not over yet would be begun again. */
const GRACE_SEC = 2

function secondsTo({ clock }: World, until: string | undefined): number {
  const left = until === undefined ? 0 : Math.ceil((Date.parse(until) - clock.now()) / 1_000)
  return Math.max(0, left) + GRACE_SEC
}

/** Until when the block waits now (ISO time); undefined: it does not. */
async function waitsUntil(call: BlockCall, token: string | undefined, host: HostContext): Promise<string | undefined> {
  const begun: { until?: string } = {}
  const open = async (now: BlockCall, undecided: boolean): Promise<BlockReport> => {
    const { report, until } = await tryWait(now, token, undecided, host.signal)
    if (until !== undefined) begun.until = until
    return report
  }
  try {
    await failBlockOnFault(call, host, () => advance(call, open))
    return begun.until
  } catch (error) {
    // The state that waits knows neither RetryBlock nor AskPerson: `_close_<id>` finds the same and raises it.
    if (error instanceof MachineSignal) return undefined
    throw error
  }
}

async function advance(
  call: BlockCall,
  open: (call: BlockCall, undecided: boolean) => Promise<BlockReport>,
): Promise<BlockReport> {
  if (call.item === undefined) return advanceBlock(call, open)
  const report = await advanceItem(call, (now) => open(now, false))
  if (report.state === 'failed') await failOfItems(call)
  return report
}

interface Begun {
  readonly report: BlockReport
  readonly until?: string
}

/**
 * The next attempt of a wait, from its claim to where nothing is left to do but to wait. Repeated at any point it goes on:
 * an attempt that waits stays as it is and only gains the token, and one that was claimed and does not wait yet is lost to
 * nobody, since nothing was done.
 */
async function tryWait(
  call: BlockCall,
  token: string | undefined,
  undecided: boolean,
  signal: AbortSignal | undefined,
): Promise<Begun> {
  const { phase } = readOrdinal(call.lane ?? 0)
  if (call.lane !== undefined && call.resumed === undefined && isOpenWait(call.lane)) return joinWait(call, token)
  if (call.resumed === undefined && phase >= PHASE.woken && phase < PHASE.retrying) return { report: notWaiting(call) }
  const open = await openAttempt(call)
  call.world.log.note?.({ attempt: open.attempt, epoch: call.epoch })
  const ready = await prepareWait(call, open.attempt)
  if (ready.unwanted === true) return { report: await skipBlock(call, { because: [], condition: 'when' }) }
  if (undecided) await askUnlessOver(call, ready)
  const begun = open.claimed ? await goOnWith(call, open, ready) : await claimAttempt(call, open, ready, signal)
  if (begun === 'ended') return { report: reportRecorded(call) }
  if (ready.waits === undefined || ready.failure !== undefined || ready.taken !== undefined) {
    return { report: await endBefore(call, open.attempt, ready) }
  }
  if (!(await recordWaiting(call, open.attempt, ready, ready.waits))) throw retryBlock(call)
  return joinWait(await readHead(call), token)
}

function notWaiting(call: BlockCall): BlockReport {
  const { attempt } = readOrdinal(call.lane ?? 0)
  return reportBlock(call, { state: 'ready', attempt, seq: call.head.seq, verdicts: [] })
}

/** A claimed attempt that does not wait yet has done nothing, whoever claimed it: the next one goes on with it. */
async function openAttempt(call: BlockCall): Promise<OpenAttempt & { readonly claimed: boolean }> {
  const { lane, resumed } = call
  const { attempt, phase } = readOrdinal(lane ?? 0)
  if (resumed === undefined && lane !== undefined && phase >= PHASE.claimed && phase < PHASE.woken) {
    return { attempt, lane, claimed: true }
  }
  const open = await findNextAttempt(call)
  if (open === 'lost_for_good') throw retryBlock(call)
  return { ...open, claimed: false }
}

/** Who claimed may have died before the verdicts of the pre-gates were recorded: nothing completes without them. */
async function goOnWith(call: BlockCall, { attempt, lane }: OpenAttempt, ready: PreparedAttempt) {
  const { leg, phase } = readOrdinal(lane ?? 0)
  return leg === 0 && phase < PHASE.claimed + 9 ? recordPreGateVerdicts(call, attempt, ready) : undefined
}

function endBefore(call: BlockCall, attempt: number, ready: PreparedWait): Promise<BlockReport> {
  const bare = { attempt, verdicts: [], gate_events: [] }
  const end = ready.taken ?? (ready.failure === undefined ? bare : { ...bare, failure: ready.failure })
  return finishAttempt(call, end, { inputs_hash: ready.hash, inputs: ready, before: ready.pre.verdicts })
}

/** What is known of a wait when it begins, but for its inputs. */
type Waits = Omit<EventData<'block:waiting'>, 'inputs_ref'>

type PreparedWait = PreparedAttempt & { readonly waits?: Waits }

/** Inputs and pre-gates of the attempt, and what it waits for; what is wrong with any is its failure. */
async function prepareWait(call: BlockCall, attempt: number): Promise<PreparedWait> {
  const ready = await prepareAttempt(call, attempt)
  if (ready.failure !== undefined || ready.unwanted === true || ready.taken !== undefined) return ready
  const waits = waitsFor(call, ready.values)
  if ('code' in waits) return { ...ready, failure: waits }
  const took = waits.for === 'event' && (attempt > 1 || call.epoch > 0) ? await takenBefore(call) : {}
  return { ...ready, waits: { ...waits, ...took } }
}

/** The event that woke an earlier attempt or pass of this block, or item. */
async function takenBefore({ world, run, block, item }: BlockCall): Promise<Pick<Waits, 'after_at' | 'after_id'>> {
  const woken = (await allEvents(world, run)).findLast((event) => {
    return event.type === 'block:woken' && event.block_id === block.id && eventPosition(event).item === item
  })
  if (woken?.type !== 'block:woken' || woken.data.by !== 'event') return {}
  const { came_at, event_id } = woken.data
  return {
    ...(came_at === undefined ? {} : { after_at: came_at }),
    ...(event_id === undefined ? {} : { after_id: event_id }),
  }
}

type Values = Readonly<Record<string, Json>>

/** What the block waits for and until when, from now on. */
function waitsFor({ block, world }: BlockCall, values: Values): Waits | Failure {
  if (block.mode !== 'wait') throw new Fault('Bug', 'no_wait', `Block "${block.id}" does not wait.`)
  const now = world.clock.now()
  const { wait } = block
  const until = (sec: number) => new Date(now + sec * 1_000).toISOString()
  switch (wait.kind) {
    case 'for':
      return { for: 'time', until: until(wait.sec) }
    case 'until':
      return timeOf(wait.at, values, now)
    case 'callback':
      return { for: 'callback', until: until(wait.timeout_sec) }
    case 'event': {
      const { name, key, timeout_sec } = wait
      if (key === undefined) return { for: 'event', name, until: until(timeout_sec) }
      const rendered = renderTemplate(key, values)
      if (rendered.ok && isEventKey(rendered.text)) {
        return { for: 'event', name, key: rendered.text, until: until(timeout_sec) }
      }
      const seen = rendered.ok ? 'is no key' : `cannot be written: ${rendered.missing.join(', ')} has no value`
      return failed('wait_key_invalid', `the key of the event it waits for ${seen}; a key is ${EVENT_KEY_RULE}`)
    }
  }
}

/** A time that has passed is over at once. */
function timeOf(text: string, values: Values, now: number): Waits | Failure {
  const value = isTime(text) ? text : placeholderValue(text, values)
  if (typeof value !== 'string' || !isTime(value)) {
    const seen = value === undefined ? 'has no value' : `is ${JSON.stringify(value).slice(0, 100)}`
    return failed(
      'wait_time_invalid',
      `"until" ${seen}; allowed is a time with its offset, such as 2026-12-24T18:00:00Z`,
    )
  }
  const at = Date.parse(value)
  if (at - now <= LIMITS.wait_sec * 1_000) return { for: 'time', until: new Date(Math.max(at, now)).toISOString() }
  const most = durationWords(LIMITS.wait_sec)
  return failed('wait_too_long', `"until" is ${value}; the limit is ${most} from the start of the wait`)
}

function failed(code: string, reason: string): Failure {
  return { code, reason: shortRedacted(`cannot wait: ${reason}`), retry: false, feedback: [] }
}

/** From here on nothing of it runs. False: somebody else moved its lane. */
async function recordWaiting(call: BlockCall, attempt: number, ready: PreparedWait, waits: Waits): Promise<boolean> {
  const { world, run, epoch, lane, meter } = call
  const from = meter.claim?.ordinal ?? lane ?? 0
  const at = new Date(world.clock.now()).toISOString()
  const { leg } = readOrdinal(from)
  const place = ordinal({ epoch, attempt, leg, phase: PHASE.waiting })
  const data = { ...waits, inputs_ref: await storeInputs(call, ready) }
  const claimed = meter.claim ?? (await readOwnProjection(call, from))
  const append: Append = {
    ...appendBase(call),
    ordinal: place,
    guard: { below: place },
    at,
    events: [{ type: 'block:waiting', ...eventBase(call), attempt, data }],
    check_at: waits.until,
    projection: {
      ...(claimed ?? { inputs_hash: ready.hash, state: 'running' }),
      ...laneOwnerOf(call),
      ordinal: place,
      attempt,
      wait: { ...data, since: at },
    },
  }
  const resting = await restOf(call, append)
  const done = await world.runs.append({ ...append, ...resting })
  const isResting = done.ok ? resting.rest?.set?.since : undefined
  if (isResting !== undefined) await leaveSlot(world, run, isResting)
  const again = !done.ok && done.because === 'resting' ? await world.runs.append(append) : done
  // Two that begin at once do not see one another: the later one does, here.
  if (again.ok && isResting === undefined) await restIfIdle(world, call)
  return again.ok || again.because === 'already'
}

/** Nothing else goes on, and for long: the run rests from here on. */
async function restOf({ world, run, ...pinned }: BlockCall, append: Append): Promise<ReturnType<typeof restFrom>> {
  const { lane, ordinal: place, at, check_at: until = at } = append
  if (pinned.meta.parent !== undefined || Date.parse(until) < Date.parse(at) + LEAST_REST_MS) return {}
  const head = await world.runs.head(run)
  if (head === undefined || openWaits(head).some((other) => other !== lane)) return {}
  return restFrom(pinned, { ...head, lanes: { ...head.lanes, [lane]: place } }, at)
}

/**
 * The token waits with an attempt that waits: token first, then whether the wait is still open; who ends it writes HEAD
 * first, then reads the tokens. Who waits for an event is registered before what is kept is looked at: who sends one keeps
 * it first, then reads who is registered.
 */
async function joinWait(call: BlockCall, token: string | undefined): Promise<Begun> {
  const { world, run, lane = 0 } = call
  const { epoch, attempt } = readOrdinal(lane)
  const place: WaitPlace = { ...laneOwnerOf(call), epoch, attempt }
  if (token !== undefined) await world.waits.addToken(run, waitId(place), token)
  const open = await findWait(world, run, place)
  if (open === undefined) return { report: notWaiting(call) }
  const { until } = open
  const { for: kind, name, key } = open.note
  if (kind === 'event' && name !== undefined) {
    await world.waits.register({ ...run, ...place, name, until, ...(key === undefined ? {} : { key }) })
  }
  if (Date.parse(until) <= world.clock.now()) await endDueWait(world, open)
  else await endByWhatIsKept(world, open)
  const now = await world.runs.head(run, [laneKey(place)])
  const stands = now?.lanes[laneKey(place)] ?? 0
  if (now?.state !== 'running' || !isOpenWait(stands)) return { report: notWaiting(call) }
  return { report: reportBlock(call, { state: 'running', attempt, seq: now.seq, verdicts: [] }), until }
}
