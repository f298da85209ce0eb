import type { StartRunBody } from '../../shared/api/start-run.ts'
import { canonicalJson, sha256 } from '../../shared/canonical.ts'
import { compileDag } from '../../shared/compile/compile-dag.ts'
import type { Dag } from '../../shared/dag/dag.ts'
import { Fault } from '../../shared/errors.ts'
import { type Principal, principalName } from '../../shared/principal.ts'
import { newRunId, runIdOfKey } from '../../shared/runs/ids.ts'
import type { Meta, RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { checkValues } from './check-values.ts'
import { continuedContext } from './continued-run.ts'
import { createRun } from './create-run.ts'
import { launchRun } from './launch-run.ts'
import { readDocument } from './read-document.ts'

type StartWorld = Pick<
  World,
  'runs' | 'objects' | 'machine' | 'outbox' | 'documents' | 'providers' | 'clock' | 'ids' | 'log' | 'settings'
>

/** What the caller of POST /api/dag/run is told. `created` is false for a repeated Idempotency-Key. */
export interface BegunRun {
  readonly run: RunKey
  readonly created: boolean
  readonly dag_name: string
  readonly dag_hash: string
  readonly blocks: number
  readonly edges: number
}

/** Starts a run: document -> check -> compile -> HEAD and META if absent -> execution. */
export async function beginRun(
  world: StartWorld,
  principal: Principal,
  body: StartRunBody,
  idempotencyKey?: string,
): Promise<BegunRun> {
  const { dag, dag_hash } = await readDocument(world, body)
  const earlier = await continuedContext(world, principal, { dag, continues: body.continues })
  const context = checkValues(dag, body, earlier)
  const run = { tenant: principal.tenant, run_id: runIdFor(world, principal.tenant, idempotencyKey) }
  const starter = principalName(principal)
  const body_hash = sha256(canonicalJson(body))
  const { text, parts } = compileDag(dag)
  const machine = await world.machine.ensure(text, dag_hash, parts)
  const order = { run, dag, dag_hash, machine, context, overrides: body.overrides ?? {}, ...linkOf(body) }
  const { created, meta } = await createRun(world, { ...order, options: optionsOf(world, body), starter, body_hash })
  if (!created && meta.body_hash !== body_hash) throw keyReused(run.run_id)
  if (created) world.log.info('run started', { run_id: run.run_id, dag_name: dag.name, starter })
  if (created) await launchRun(world, run).catch((error: unknown) => startLater(world, run, error))
  const { dag_name, blocks } = meta
  return { run, created, dag_name, dag_hash: meta.dag_hash, blocks, edges: edgesOf(dag) }
}

/** The run exists and owes its start: the sweeper launches it. */
function startLater({ log }: StartWorld, run: RunKey, error: unknown): void {
  log.error('execution not started; the sweeper will', { run_id: run.run_id, error: String(error) })
}

function runIdFor({ ids }: Pick<World, 'ids'>, tenant: string, key: string | undefined): string {
  return key === undefined ? newRunId(ids.random(17)) : runIdOfKey(tenant, 'POST /api/dag/run', key)
}

function linkOf({ continues }: StartRunBody): { readonly continues?: string } {
  return continues === undefined ? {} : { continues }
}

function optionsOf({ settings }: StartWorld, { options }: StartRunBody): Meta['options'] {
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
