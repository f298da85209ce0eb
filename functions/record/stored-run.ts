import type { Dag } from '../../shared/dag/dag.ts'
import { Fault } from '../../shared/errors.ts'
import type { RunParts, StoredRun } from '../../shared/invariants/invariant.ts'
import type { Execution } from '../../shared/runs/machine.ts'
import type { Meta, RunKey } from '../../shared/runs/run-store.ts'
import type { BlockProjection } from '../../shared/runs/run-store-items.ts'
import type { World } from '../../shared/world.ts'
import { allEvents, hashOfLog } from './run-log.ts'

type VerifyWorld = Pick<World, 'runs' | 'objects' | 'machine' | 'isolate' | 'clock'>

/** The closed part of the hash chain, and whether the stored events still make it. */
export interface Seal {
  readonly seq: number
  readonly hash: string
  readonly matches: boolean
}

/**
 * Everything a run is made of, nothing of it from a warm cache. Items beside HEAD are read before it and the events
 * after it, cut where HEAD stands: so the parts fit each other also while the run goes on.
 */
export async function readStoredRun(
  world: VerifyWorld,
  run: RunKey,
  meta: Meta,
): Promise<{ readonly stored: StoredRun; readonly seal: Seal | undefined }> {
  const { runs, isolate } = world
  const read = readPatiently(world, run.tenant)
  const dag = await readDag(read, meta)
  await world.clock.turn?.()
  const beside = await readItems(world, run, dag)
  await world.clock.turn?.()
  const head = await runs.head(run)
  // Behind HEAD: a run at rest there has its whole chain. Before the events: they are all those it is closed over.
  const sealed = await runs.sealed(run)
  const all = await allEvents(world, run)
  const events = head === undefined ? all : all.slice(0, head.seq)
  const seal =
    sealed === undefined
      ? undefined
      : { ...sealed, matches: (await hashOfLog(world, all.slice(0, sealed.seq))) === sealed.hash }
  const ended = head !== undefined && head.state !== 'running'
  const stored = {
    ...{ meta, events, read, isolate, ...beside },
    approvals_of: (run_id: string) => runs.approvals({ tenant: run.tenant, run_id }),
    ...(dag === undefined ? {} : { dag }),
    ...(head === undefined ? {} : { head }),
    ...(ended ? await executionAtRest(world, meta, events.at(-1)?.at) : {}),
  }
  return { stored, seal }
}

async function readDag(read: RunParts['read'], { dag_ref }: Meta): Promise<Dag | undefined> {
  const body = await read(dag_ref)
  // Verified against its hash: it is the document start-run wrote.
  return body === undefined ? undefined : (JSON.parse(Buffer.from(body).toString('utf8')) as Dag)
}

async function readItems({ runs }: VerifyWorld, run: RunKey, dag: Dag | undefined) {
  const overLists = (dag?.blocks ?? []).filter(({ foreach }) => foreach !== undefined)
  const items: BlockProjection[] = []
  for (const { index } of overLists) items.push(...(await runs.itemProjections(run, index)))
  const context = await runs.context(run)
  return {
    projections: [...(await runs.projections(run)), ...items],
    approvals: await runs.approvals(run),
    artifacts: await runs.artifacts(run),
    ...(context === undefined ? {} : { context }),
  }
}

const LOOKS = 20
const LOOK_MS = 100
/** A busy machine's last steps take longer than a request may: until then it is not at rest yet. */
const LAST_STEPS_MS = 300_000

/**
 * The machine takes its last steps after the run has its verdict: it is given two seconds for them, and where it still
 * takes them soon after the run's end (`ended_at`), nothing is said of it.
 */
async function executionAtRest(
  { machine, clock }: VerifyWorld,
  meta: Meta,
  ended_at = '',
): Promise<{ readonly execution?: Execution | null }> {
  // Of one that ran elsewhere this machine knows nothing.
  if (meta.imported !== undefined) return {}
  for (let look = 1; ; look += 1) {
    const execution = await machine.describe(meta.machine, meta.run_id)
    if (execution?.status !== 'RUNNING') return { execution: execution ?? null }
    if (look === LOOKS) return Date.parse(ended_at) + LAST_STEPS_MS > clock.now() ? {} : { execution }
    await clock.delay(LOOK_MS)
  }
}

/** An object store may not show what was put a moment ago (docs/faults.md, "What goes wrong"). */
const SHOWN_WITHIN_MS = 2_000

/**
 * Reads a tenant's objects; undefined = missing or damaged. What is missing is looked for once more when two seconds have
 * gone since the first of them was: however many are missing, that is waited for once. Faults of a store that is away
 * are thrown on: they say nothing of its objects.
 */
export function readPatiently(
  { objects, clock }: Pick<World, 'objects' | 'clock'>,
  tenant: string,
): (ref: string) => Promise<Uint8Array | undefined> {
  let waited: Promise<void> | undefined
  return async (ref) => {
    const found = await objects.get(tenant, ref).catch(codeUnlessAway)
    if (typeof found !== 'string') return found
    if (found === 'object_missing') {
      waited ??= clock.delay(SHOWN_WITHIN_MS)
      await waited
      const again = await objects.get(tenant, ref).catch(codeUnlessAway)
      if (typeof again !== 'string') return again
    }
    return undefined
  }
}

function codeUnlessAway(error: unknown): string {
  if (!(error instanceof Fault)) return 'unreadable'
  if (error.name === 'Unavailable') throw error
  return error.code
}
