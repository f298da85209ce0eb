import { Fault } from '../../shared/errors.ts'
import { type RunTurn, slotRank } from '../../shared/runs/key-queue.ts'
import { type Meta, type RunKey, runsPool, type StartHold } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import type { RunOrder } from './create-run.ts'
import { endRun } from './end-run.ts'
import { comeToTurn, hasTurn, refuseSkipped } from './key-turns.ts'
import { fillSlots, takeSlot } from './slots.ts'

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
export async function admitRun(
  world: AdmitWorld,
  run: RunKey,
  create: (queued: boolean) => Promise<Made>,
  { priority = 0, turn }: Waits = {},
): Promise<Made & { readonly queued: boolean }> {
  // A repeated key, perhaps of a run that rests: it needs no slot for that.
  if ((await world.runs.head(run, [])) !== undefined) return { ...(await create(false)), queued: false }
  if (turn !== undefined) return admitToTurn(world, run, create, turn)
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
  if (queued) await world.runs.enqueue({ ...run, at: slotRank(made.meta.created_at, priority) }).catch(later)
  const hold = await endIfHeld(world, run).catch(later)
  if (hold !== undefined) throw startsOnHold(hold)
  // The last slot may have become free before it stood in the queue.
  if (queued) await fillSlots(world, run.tenant).catch(later)
  return { ...made, queued }
}

/** How a run waits for others, if it does. */
type Waits = Pick<RunOrder, 'priority' | 'turn'>

/**
 * The same of a run that takes turns with others of its key: it is made queued, comes to its queue, and is launched once both
 * its turn and a slot are there. Without `safety.queue` it is refused only where no slot is free as it comes.
 */
async function admitToTurn(
  world: AdmitWorld,
  run: RunKey,
  create: (queued: boolean) => Promise<Made>,
  turn: RunTurn,
): Promise<Made & { readonly queued: boolean }> {
  await refuseSkipped(world, run.tenant, turn)
  if (!world.settings.safety.queue) await giveBack(world, run, await takeSlot(world, run))
  const made = await create(true)
  if (!made.created || !hasTurn(made.meta)) return { ...made, queued: false }
  // What fails from here on leaves a run that is there: the sweep brings it to its queue.
  const later = (error: unknown) => logged(world, run, error)
  const refused = await comeToTurn(world, made.meta).catch(later)
  if (refused !== undefined) throw refused
  const hold = await endIfHeld(world, run).catch(later)
  if (hold !== undefined) throw startsOnHold(hold)
  await fillSlots(world, run.tenant).catch(later)
  const head = await world.runs.head(run, []).catch(later)
  return { ...made, queued: head === undefined || head.queued === true }
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

/**
 * Fault Conflict starts_on_hold while somebody holds the starts of the tenant (`stop-all` with `hold`); dag_paused while
 * somebody paused the document.
 */
export async function refuseHeld({ runs }: Pick<World, 'runs'>, tenant: string, dag: string): Promise<void> {
  const [hold, paused] = await Promise.all([runs.startHold(tenant), runs.startHold(tenant, dag)])
  if (hold !== undefined) throw startsOnHold(hold)
  if (paused !== undefined) throw dagPaused(dag, paused)
}

function dagPaused(name: string, paused: StartHold): Fault {
  const message = `Cannot start: DAG "${name}" is paused ${holdWords(paused)}. Let it go on with \`sluice dag resume ${name}\` or PATCH /api/dag/documents/${name}.`
  return new Fault('Conflict', 'dag_paused', message, { facts: { ...paused } })
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
