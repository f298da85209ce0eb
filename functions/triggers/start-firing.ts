import type { Principal } from '../../shared/auth/principal.ts'
import { Fault } from '../../shared/errors.ts'
import type { Json } from '../../shared/text/json.ts'
import { FIRING_ROUTE, firingKey, TRIGGER_LIMITS, type Trigger } from '../../shared/triggers/trigger.ts'
import type { Firing, TriggerState } from '../../shared/triggers/trigger-store.ts'
import type { World } from '../../shared/world.ts'
import { type BegunRun, beginRun } from '../runs/begin-run.ts'
import { readDocument } from '../runs/documents.ts'
import { type PrepareWorld, prepareRun } from '../runs/prepare-run.ts'
import { findTrigger } from './declared-triggers.ts'
import { tellFailure } from './keep-firing.ts'
import { pace } from './pace.ts'
import { changeState } from './trigger-state.ts'

type StartWorld = PrepareWorld & Pick<World, 'machine' | 'outbox' | 'clock' | 'ids' | 'log' | 'spending'>

type FireWorld = StartWorld & Pick<World, 'triggers'>

/**
 * What became of an owed firing at one look: `later` = it still is owed; `waits` = so is it, and so are all after it that its
 * trigger fired by itself.
 */
export type Outcome = 'started' | 'skipped' | 'failed' | 'later' | 'waits'

/**
 * Starts the run of an owed firing. Whoever dies on the way leaves it owed, and its run is the same at the next try: a firing
 * starts one run. What may be better later is put off, a day at the most; what would be refused again has failed.
 */
export async function startFiring(world: FireWorld, firing: Firing): Promise<Outcome> {
  if (isEarly(firing, world.clock.now())) return 'later'
  if (await isThere(world, firing)) return noteStart(world, firing)
  const declared = await findTrigger(world, firing.document, firing.trigger)
  if (declared === undefined) return putOff(world, firing, gone(firing))
  const turn = await takeTurn(world, firing, declared.trigger)
  if (turn.is === 'paused' || turn.is === 'waits') return 'waits'
  if (turn.is === 'later') return 'later'
  if (turn.is === 'skip') return end(world, firing, 'skipped', turn.reason)
  return startUnlessHeld(world, firing, declared.trigger)
}

/** Nobody gives up what a paused document owes. */
async function startUnlessHeld(world: FireWorld, firing: Firing, trigger: Trigger): Promise<Outcome> {
  if ((await world.runs.startHold(firing.tenant, firing.document)) !== undefined) return 'waits'
  try {
    await start(world, firing, trigger)
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    if (error.code === 'concurrency_skipped') return end(world, firing, 'skipped', reasonOf(error))
    return putOff(world, firing, error)
  }
  return noteStart(world, firing)
}

/** Who made its run died before that was noted: whatever has changed since, it has started. */
async function isThere({ runs }: Pick<World, 'runs'>, { tenant, run_id }: Firing): Promise<boolean> {
  return (await runs.head({ tenant, run_id }, [])) !== undefined
}

async function noteStart(world: FireWorld, firing: Firing): Promise<Outcome> {
  await world.triggers.moveFiring({ ...firing, state: 'started', ended_at: isoNow(world) })
  return 'started'
}

function isoNow({ clock }: Pick<World, 'clock'>): string {
  return new Date(clock.now()).toISOString()
}

async function start(world: FireWorld, firing: Firing, { priority }: Trigger): Promise<void> {
  const inputs = firing.values === undefined ? {} : await readInputs(world, firing.tenant, firing.values.ref)
  const { document, id, after: follows } = firing
  const asked = { document, inputs, key: firingKey(firing, id), priority, follows }
  await startDeployed(world, principalOf(firing), asked)
}

async function readInputs(
  { objects }: Pick<World, 'objects'>,
  tenant: string,
  ref: string,
): Promise<Record<string, Json>> {
  // Our own text (keep-firing.ts).
  return JSON.parse(Buffer.from(await objects.get(tenant, ref)).toString('utf8'))
}

/**
 * Who starts it: the trigger, and behind it the person who fired it by hand, whom the document may forbid to approve. Where
 * that cannot be told it is nobody known, as at the start route.
 */
function principalOf({ tenant, trigger, by }: Firing): Principal {
  const own = { kind: 'trigger', id: trigger, tenant, scopes: ['runs:start'] } as const
  if (by === undefined) return own
  return by.person === undefined ? { ...own, unknown_person: true } : { ...own, person: by.person }
}

type Turn =
  | { readonly is: 'mine' | 'waits' | 'later' | 'paused' }
  | { readonly is: 'skip'; readonly reason: NonNullable<Firing['reason']> }

/**
 * Where runs of a trigger do not overlap, one firing has the turn, from before its run is there until that has ended. Others
 * go by the pace of their trigger. Who fires by hand waits for nobody.
 */
async function takeTurn(world: FireWorld, firing: Firing, trigger: Trigger): Promise<Turn> {
  if (firing.by !== undefined) return { is: 'mine' }
  const overlap = trigger.kind === 'schedule' ? trigger.schedule.overlap : 'allow'
  for (;;) {
    const state = await world.triggers.state(firing)
    if (state?.paused !== undefined) return { is: 'paused' }
    if (overlap === 'allow') return pace(world, firing, trigger)
    const turn = await turnAfter(world, firing, trigger, { overlap, before: state?.active })
    if (turn !== undefined) return turn
  }
}

interface Before {
  readonly overlap: 'skip' | 'queue'
  readonly before: TriggerState['active']
}

/** Undefined: another firing was faster; who has the turn is to be looked at again. */
async function turnAfter(
  world: FireWorld,
  firing: Firing,
  trigger: Trigger,
  { overlap, before }: Before,
): Promise<Turn | undefined> {
  if (before?.id === firing.id) return { is: 'mine' }
  if (before !== undefined && (await goesOn(world, firing, before))) return behind(overlap, before)
  return (await isTaken(world, firing, trigger, before?.id)) ? { is: 'mine' } : undefined
}

/** Takes the turn from the firing that had it; false: another one was faster. */
async function isTaken(world: FireWorld, firing: Firing, trigger: Trigger, from: string | undefined): Promise<boolean> {
  const { id, run_id } = firing
  const now = await changeState(world, firing, trigger, (stored) =>
    stored.active?.id === from ? { ...stored, active: { id, run_id } } : undefined,
  )
  return now.active?.id === id
}

function behind(overlap: 'skip' | 'queue', before: { readonly run_id: string }): Turn {
  if (overlap === 'queue') return { is: 'waits' }
  const message = `Run ${before.run_id} of the firing before it still goes on (overlap: skip).`
  return { is: 'skip', reason: { code: 'trigger_overlap', message } }
}

/** Its run goes on, or is still to be started. */
async function goesOn(
  world: FireWorld,
  of: Firing,
  before: { readonly id: string; readonly run_id: string },
): Promise<boolean> {
  const head = await world.runs.head({ tenant: of.tenant, run_id: before.run_id }, [])
  if (head !== undefined) return head.state === 'running'
  return (await world.triggers.firing(of, before.id))?.state === 'owed'
}

const LATER: ReadonlySet<string> = new Set(['Unavailable', 'LimitExceeded', 'Conflict'])
/** A time further ahead was written by a clock that has been set right since. */
function isEarly({ next_at }: Firing, now: number): boolean {
  const ahead = Date.parse(next_at) - now
  return ahead > 0 && ahead <= LONGEST_DELAY_MS
}

/** A deployment under way: documents, functions and machines change one after the other. */
const DEPLOYING: ReadonlySet<string> = new Set(['trigger_gone', 'machine_not_deployed', 'machine_unknown'])
const FIRST_DELAY_MS = 15_000
const LONGEST_DELAY_MS = 900_000
/** From its first try: it may have waited long for its turn. */
const GIVE_UP_MS = 86_400_000

function reasonOf({ code, message }: Fault): NonNullable<Firing['reason']> {
  return { code, message: message.slice(0, 1_000).toWellFormed() }
}

/** Starts on hold, too many runs, a store that does not answer, a document being changed: later it may be otherwise. */
async function putOff(world: FireWorld, firing: Firing, error: Fault): Promise<Outcome> {
  const reason = reasonOf(error)
  const now = world.clock.now()
  const put_off_at = firing.put_off_at ?? new Date(now).toISOString()
  const isOver = now - Date.parse(put_off_at) >= GIVE_UP_MS
  const isTaken = error.code === 'idempotency_key_reused'
  const isLater = LATER.has(error.name) || DEPLOYING.has(error.code)
  if (!isLater || isOver || isTaken) return end(world, firing, 'failed', reason)
  const delay = Math.min(FIRST_DELAY_MS * 2 ** Math.min(firing.tries, 10), LONGEST_DELAY_MS)
  const next_at = new Date(now + delay).toISOString()
  await world.triggers.moveFiring({ ...firing, tries: firing.tries + 1, put_off_at, next_at, reason })
  return 'later'
}

async function end(
  world: FireWorld,
  firing: Firing,
  state: 'skipped' | 'failed',
  reason: NonNullable<Firing['reason']>,
): Promise<Outcome> {
  const moved = await world.triggers.moveFiring({ ...firing, state, ended_at: isoNow(world), reason })
  if (moved && state === 'failed') tellFailure(world, firing, new Fault('InvalidInput', reason.code, reason.message))
  return state
}

function gone({ document, trigger }: Firing): Fault {
  return new Fault('NotFound', 'trigger_gone', `DAG "${document}" has no trigger "${trigger}" that can be read.`)
}

/** Whether no more firings of a trigger may wait. */
export function isQueueFull(
  owed: readonly Firing[],
  { document, trigger }: Pick<Firing, 'document' | 'trigger'>,
): boolean {
  return owed.filter((one) => one.document === document && one.trigger === trigger).length >= TRIGGER_LIMITS.queued
}

/** A run of a deployed document that nobody but its trigger asks for. */
interface DeployedStart {
  readonly document: string
  readonly inputs: Readonly<Record<string, Json>>
  /** The same again is the same run, whoever asks. */
  readonly key: string
  readonly priority: number | undefined
  readonly follows: Firing['after']
}

/** Makes the run, which owes its start: the execution is begun by who alone may. */
async function startDeployed(
  world: StartWorld,
  principal: Principal,
  { document, inputs, key, priority, follows }: DeployedStart,
): Promise<BegunRun> {
  const { tenant } = principal
  const body = { name: document, inputs: { ...inputs } }
  const { dag: unpinned, dag_hash, scripts } = await readDocument(world, tenant, body)
  const { order, compiled } = await prepareRun(world, tenant, unpinned, body)
  const machine = () => world.machine.deployed(compiled.text, dag_hash, compiled.parts)
  const asked = { route: FIRING_ROUTE, key, of_anybody: true, body, options: undefined } as const
  const request = { ...order, dag_hash, scripts, machine, overrides: {}, priority, follows, ...asked }
  return beginRun(world, principal, request, (run) => world.outbox.nudge(run))
}
