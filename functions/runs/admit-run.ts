import { type Principal, personName, principalName } from '../../shared/auth/principal.ts'
import type { Dag } from '../../shared/dag/dag.ts'
import { Fault } from '../../shared/errors.ts'
import { unknownPersonMessage } from '../../shared/runs/approval.ts'
import { newRunId, runIdOfIdempotencyKey, runIdOfKey } from '../../shared/runs/ids.ts'
import { type Meta, type RunKey, runsPool, type StartHold } from '../../shared/runs/run-store.ts'
import { canonicalJson, sha256 } from '../../shared/text/canonical.ts'
import type { World } from '../../shared/world.ts'
import { createRun, type RunOrder } from './create-run.ts'
import { endRun } from './end-run.ts'
import { linkLineage } from './lineage.ts'
import { fillSlots, takeSlot } from './slots.ts'

type EnterWorld = Pick<World, 'runs' | 'objects' | 'outbox' | 'clock' | 'ids' | 'log' | 'settings'>

/** A request for a root run, checked: what it runs, and what makes a repeat of it the same request. */
export interface Entry
  extends Pick<
    RunOrder,
    | 'dag'
    | 'dag_hash'
    | 'context'
    | 'overrides'
    | 'edited'
    | 'children'
    | 'given'
    | 'continues'
    | 'retry_of'
    | 'root'
    | 'caps'
    | 'research'
    | 'pivots'
    | 'goal'
  > {
  /** As a function: made only for a run that is let in. */
  readonly machine: string | (() => Promise<string>)
  /** Method and path it came by: an Idempotency-Key is one of this route and its caller. */
  readonly route: string
  readonly key: string | undefined
  /** The key is no caller's: the run follows from another one, and is the same whoever asks for it. */
  readonly of_anybody?: true
  readonly body: unknown
  readonly options: { readonly [K in keyof Meta['options']]?: Meta['options'][K] | undefined } | undefined
}

/** What the caller of a route that starts a run is told. `created` is false for a repeated Idempotency-Key. */
export interface BegunRun {
  readonly run: RunKey
  readonly created: boolean
  /** It waits for a slot among the active runs. */
  readonly queued: boolean
  readonly dag_name: string
  readonly dag_hash: string
  readonly blocks: number
  readonly edges: number
}

/**
 * The one way into the store for runs that people start: hold -> slot among the active runs -> HEAD and META if absent
 * -> hold again -> `launch`, unless it is queued. What `launch` does not get done the sweeper does: HEAD owes the start.
 * A repeated key finds its run, whether there is a place or not.
 */
export async function admitAndCreateRun(
  world: EnterWorld,
  principal: Principal,
  entry: Entry,
  launch: (run: RunKey) => Promise<void>,
): Promise<BegunRun> {
  const { route: _, key, of_anybody: __, body, options: wanted, machine, ...order } = entry
  const run = { tenant: principal.tenant, run_id: runIdFor(world, principal, entry) }
  requireToldStarter(world, principal, order.dag)
  const starter = principalName(principal)
  const person = personName(principal)
  const starter_person = person === starter ? undefined : person
  const body_hash = sha256(canonicalJson(body))
  const options = optionsOf(world, wanted)
  const make = async (queued: boolean) => {
    const on = typeof machine === 'string' ? machine : await machine()
    return createRun(world, { ...order, machine: on, run, options, starter, starter_person, body_hash, queued })
  }
  await refuseHeld(world, run.tenant)
  const there = key === undefined ? undefined : await madeBefore(world, run)
  const admitted =
    there !== undefined ? { meta: there, created: false, queued: false } : await admitRun(world, run, make)
  const { created, queued, meta } = admitted
  if (meta.body_hash !== body_hash) throw keyReused(run.run_id)
  if (created) world.log.info('run started', { run_id: run.run_id, dag_name: meta.dag_name, starter, queued })
  const begin = async () => {
    await linkLineage(world, meta)
    if (!queued) await launch(run)
  }
  if (created) await begin().catch((error: unknown) => startLater(world, run, error))
  return {
    run,
    created,
    queued,
    dag_name: meta.dag_name,
    dag_hash: meta.dag_hash,
    blocks: meta.blocks,
    edges: edgesOf(order.dag),
  }
}

/** Who may not decide because they started the run must be known as a person. */
function requireToldStarter({ settings }: EnterWorld, principal: Principal, { blocks }: Dag): void {
  if (personName(principal) !== undefined) return
  const first = blocks.find(({ approval }) => approval && !(approval.self_approval && settings.safety.self_approval))
  if (first === undefined) return
  const message = `Cannot start: block "${first.id}" may not be approved by who starts the run (self_approval: false), but ${unknownPersonMessage(principalName(principal))}`
  throw new Fault('Rejected', 'person_unknown', message, { facts: { block_id: first.id } })
}

/** With HEAD the run is there: META alone is of a start that died, which this one finishes. */
async function madeBefore({ runs }: Pick<EnterWorld, 'runs'>, run: RunKey): Promise<Meta | undefined> {
  return (await runs.head(run, [])) === undefined ? undefined : runs.meta(run)
}

/** The run exists and owes its start: the sweeper launches it. */
function startLater({ log }: EnterWorld, run: RunKey, error: unknown): void {
  log.error('execution not started; the sweeper will', { run_id: run.run_id, error: String(error) })
}

function runIdFor({ ids }: Pick<World, 'ids'>, principal: Principal, { route, key, of_anybody }: Entry): string {
  if (key === undefined) return newRunId(ids.random(17))
  const { tenant } = principal
  return of_anybody === true
    ? runIdOfKey(tenant, route, key)
    : runIdOfIdempotencyKey(tenant, principalName(principal), route, key)
}

function optionsOf({ settings }: EnterWorld, options: Entry['options']): Meta['options'] {
  const { max_parallel, max_run_sec } = settings.safety
  const wanted = options?.max_parallel ?? max_parallel
  return {
    // 0 = no limit: only the operator's own setting may say so.
    max_parallel: max_parallel > 0 && (wanted === 0 || wanted > max_parallel) ? max_parallel : wanted,
    fail_fast: options?.fail_fast ?? false,
    deadline_sec: Math.min(options?.deadline_sec ?? max_run_sec, max_run_sec),
  }
}

function edgesOf(dag: Dag): number {
  return dag.blocks.reduce((sum, { upstream }) => sum + upstream.length, 0)
}

function keyReused(runId: string): Fault {
  const message = `Cannot start: this Idempotency-Key already started run "${runId}" with another body. Send the same body, or a new key.`
  return new Fault('InvalidInput', 'idempotency_key_reused', message, { status: 422, facts: { run_id: runId } })
}

type AdmitWorld = Pick<World, 'runs' | 'outbox' | 'clock' | 'settings' | 'log'>

interface Made {
  readonly created: boolean
  readonly meta: Meta
}

/**
 * Lets in a run that a caller starts, retries or continues (children come in with their parents), after refuseHeld: a
 * slot among the active runs, or in the queue -> `create` writes HEAD and META, told whether it is `queued` -> hold
 * again. A queued run is not launched: who gives it its slot does. Every failure on the way gives the slot back.
 * Faults: Conflict starts_on_hold, LimitExceeded too_many_runs, those of `create`.
 */
async function admitRun(
  world: AdmitWorld,
  run: RunKey,
  create: (queued: boolean) => Promise<Made>,
): Promise<Made & { readonly queued: boolean }> {
  const until = await takeSlot(world, run)
  const queued = until === undefined
  const made = await create(queued).catch(async (error: unknown) => {
    await giveBack(world, run, until)
    throw error
  })
  if (!made.created) {
    // Another start of the same key was first: its run keeps the place as long as it lives.
    await giveBack(world, run, until)
    return { ...made, queued: false }
  }
  // What fails from here on leaves a run that is there: the sweep puts it into the queue, its launch looks at the hold.
  const later = (error: unknown) => logged(world, run, error)
  if (queued) await world.runs.enqueue({ ...run, at: made.meta.created_at }).catch(later)
  const hold = await endIfHeld(world, run).catch(later)
  if (hold !== undefined) throw startsOnHold(hold)
  // The last slot may have become free before it stood in the queue.
  if (queued) await fillSlots(world, run.tenant).catch(later)
  return { ...made, queued }
}

/** Never fails: what it could not give back the sweep finds. Where nothing came of it, somebody else may try right now. */
async function giveBack(world: AdmitWorld, run: RunKey, until: string | undefined): Promise<void> {
  if (until === undefined) return
  try {
    const head = await world.runs.head(run, [])
    const isLive = head?.state === 'running'
    if (isLive && head.queued !== true) return
    const only = head === undefined ? [until] : []
    if (!isLive) await world.runs.dropLease(runsPool(run.tenant), run.run_id, ...only)
    await fillSlots(world, run.tenant)
  } catch (error) {
    logged(world, run, error)
  }
}

function logged({ log }: AdmitWorld, run: RunKey, error: unknown): undefined {
  log.error('a place among the active runs was not settled; the sweep will', {
    run_id: run.run_id,
    error: String(error),
  })
}

/** Fault Conflict starts_on_hold while somebody holds the starts of the tenant (`stop-all` with `hold`). */
async function refuseHeld({ runs }: Pick<World, 'runs'>, tenant: string): Promise<void> {
  const hold = await runs.startHold(tenant)
  if (hold !== undefined) throw startsOnHold(hold)
}

function startsOnHold(hold: StartHold): Fault {
  const message = `Cannot start: starts are on hold ${holdWords(hold)}. Release them with \`sluice run release\` or POST /api/dag/safety/release.`
  return new Fault('Conflict', 'starts_on_hold', message, { facts: { ...hold } })
}

/** `since <time>, by user:ana: <reason>`. */
function holdWords({ by, at, reason }: StartHold): string {
  return `since ${at}, by ${by}${reason === undefined ? '' : `: ${reason}`}`
}

/**
 * Cancels a run that was let in while starts were put on hold, and answers the hold: who holds them stops the runs there
 * are after that, so a run that exists before is found by them, and one that exists later is found here.
 */
export async function endIfHeld(
  world: Pick<World, 'runs' | 'outbox' | 'clock' | 'settings'>,
  run: RunKey,
): Promise<StartHold | undefined> {
  const hold = await world.runs.startHold(run.tenant)
  if (hold === undefined) return undefined
  const reason = `starts are on hold ${holdWords(hold)}`
  await endRun(world, run, { state: 'cancelled', code: 'starts_on_hold', reason, stop: true })
  return hold
}
