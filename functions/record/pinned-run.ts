import * as z from 'zod'
import { type BounceModule, bounceModules } from '../../shared/dag/bounce-modules.ts'
import type { Dag } from '../../shared/dag/dag.ts'
import { Fault } from '../../shared/errors.ts'
import type { MachineInput } from '../../shared/runs/machine.ts'
import type { Meta, RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'

/** What a run is pinned to: META and the document its hash names. Both are written once, so a warm process keeps them. */
export interface Pinned {
  readonly meta: Meta
  readonly dag: Dag
  /** Block id -> position in the document. */
  readonly index: ReadonlyMap<string, number>
  /** Block id -> the bounce module it is in, if any. */
  readonly moduleOf: ReadonlyMap<string, BounceModule>
}

type Document = Omit<Pinned, 'meta'>

const KEPT = 200
/** Promises, so that a thousand blocks that start together read and parse their document once. */
interface Warm {
  readonly metas: Map<string, Promise<Meta>>
  readonly dags: Map<string, Promise<Document>>
}

const warm = new WeakMap<object, Warm>()

/** Reads META and the pinned document of a run; Fault InvalidInput start_through_the_api when there is no such run. */
export async function readPinned(world: Pick<World, 'runs' | 'objects'>, run: RunKey): Promise<Pinned> {
  const kept = warmOf(world.runs)
  const key = `${run.tenant}/${run.run_id}`
  const meta = await (kept.metas.get(key) ?? keep(kept.metas, key, requireMeta(world, run)))
  const document = await (kept.dags.get(meta.dag_ref) ?? keep(kept.dags, meta.dag_ref, readDocument(world, meta)))
  return { meta, ...document }
}

async function requireMeta(world: Pick<World, 'runs'>, run: RunKey): Promise<Meta> {
  const meta = await world.runs.meta(run)
  if (meta !== undefined) return meta
  const message = `Cannot go on with run "${run.run_id}": it has no record. Start runs with POST /api/dag/run or \`sluice run start\`, never by hand.`
  throw new Fault('InvalidInput', 'start_through_the_api', message, { facts: { run_id: run.run_id } })
}

async function readDocument(world: Pick<World, 'objects'>, meta: Meta): Promise<Document> {
  const body = await world.objects.get(meta.tenant, meta.dag_ref)
  // The object is content-addressed and verified: it is the Dag that start-run wrote.
  const dag = JSON.parse(Buffer.from(body).toString('utf8')) as Dag
  const modules = bounceModules(dag.blocks)
  const moduleOf = new Map(modules.flatMap((module) => module.blocks.map((id): [string, BounceModule] => [id, module])))
  return { dag, index: new Map(dag.blocks.map(({ id, index }) => [id, index])), moduleOf }
}

/** Another view of the same store keeps what it reads with it. */
export function shareRunCache<T extends object>(view: T, owner: object): T {
  warm.set(view, warmOf(owner))
  return view
}

function warmOf(owner: object): Warm {
  const kept = warm.get(owner) ?? { metas: new Map(), dags: new Map() }
  warm.set(owner, kept)
  return kept
}

/** Keeps what is being read; what could not be read is forgotten, the next caller tries again. */
function keep<T>(map: Map<string, Promise<T>>, key: string, value: Promise<T>): Promise<T> {
  if (map.size >= KEPT) map.delete(map.keys().next().value ?? '')
  map.set(key, value)
  value.catch(() => map.delete(key))
  return value
}

/** The execution input as every state passes it on in `in` (docs/architecture.md, "From document to machine"). */
export const MachineInputSchema: z.ZodType<MachineInput> = z.strictObject({
  v: z.literal(1),
  tenant: z.string().min(1),
  run_id: z.string().regex(/^run_[0-9a-z]{26}$/),
  release: z.string().exactOptional(),
  code: z.record(z.string(), z.string()).exactOptional(),
  /** Of a part of a machine: the execution it belongs to, for Step Functions' console (shared/compile/emit-machine.ts). */
  AWS_STEP_FUNCTIONS_STARTED_BY_EXECUTION_ID: z.string().optional(),
})

/** The run an execution input names. */
export function toRunKey(input: MachineInput): RunKey {
  return { tenant: input.tenant, run_id: input.run_id }
}

/**
 * For the `catch` of an object that a run's own record names: it was put before the record was written, so one that is not
 * there is away for a moment. Throws Unavailable in place of NotFound, and the machine asks again. `what`: a noun.
 */
export function unavailableIfMissing(what: string): (cause: unknown) => never {
  return (cause) => {
    if (!(cause instanceof Fault && cause.name === 'NotFound')) throw cause
    throw new Fault('Unavailable', cause.code, `${cause.message} It is ${what}.`, { cause })
  }
}
