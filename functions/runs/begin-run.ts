import type { StartRunBody } from '../../shared/api/start-run.ts'
import { canonicalJson, sha256 } from '../../shared/canonical.ts'
import { compileDag } from '../../shared/compile/compile-dag.ts'
import type { Dag } from '../../shared/dag/dag.ts'
import { Fault } from '../../shared/errors.ts'
import { type Principal, principalName } from '../../shared/principal.ts'
import { earlier, OUTBOX_GRACE_MS } from '../../shared/runs/check-at.ts'
import { newRunId, runIdOfKey } from '../../shared/runs/ids.ts'
import type { Meta, NewRun, RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { checkValues } from './check-values.ts'
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

/**
 * Starts a run: document -> check -> compile -> object -> HEAD and META if absent -> execution. A crash after HEAD is
 * healed by the sweeper, since HEAD owes its own start (decisions, "HEAD, exactly": start order).
 */
export async function beginRun(
  world: StartWorld,
  principal: Principal,
  body: StartRunBody,
  idempotencyKey?: string,
): Promise<BegunRun> {
  const { dag, dag_hash } = await readDocument(world, body)
  const context = checkValues(dag, body)
  const run = { tenant: principal.tenant, run_id: runIdFor(world, principal.tenant, idempotencyKey) }
  const body_hash = sha256(canonicalJson(body))
  const pinned = await pinDocument(world, principal.tenant, dag, dag_hash)
  const inputs_hash = sha256(canonicalJson({ context, overrides: body.overrides ?? {} }))
  const now = world.clock.now()
  const meta: Meta = {
    ...run,
    ...pinned,
    dag_name: dag.name,
    dag_hash,
    starter: principalName(principal),
    created_at: new Date(now).toISOString(),
    body_hash,
    inputs_hash,
    overrides: body.overrides ?? {},
    options: optionsOf(world, body),
    blocks: dag.blocks.length,
  }
  const created = await world.runs.create(newRun(meta, context, now))
  if (!created.created && created.meta.body_hash !== body_hash) throw keyReused(run.run_id)
  if (created.created) world.log.info('run started', { run_id: run.run_id, dag_name: dag.name, starter: meta.starter })
  if (created.created) await launchRun(world, run).catch((error: unknown) => startLater(world, run, error))
  const { dag_name, blocks } = created.meta
  return { run, created: created.created, dag_name, dag_hash: created.meta.dag_hash, blocks, edges: edgesOf(dag) }
}

/** The run exists and owes its start: the sweeper launches it. */
function startLater({ log }: StartWorld, run: RunKey, error: unknown): void {
  log.error('execution not started; the sweeper will', { run_id: run.run_id, error: String(error) })
}

function runIdFor({ ids }: Pick<World, 'ids'>, tenant: string, key: string | undefined): string {
  return key === undefined ? newRunId(ids.random(17)) : runIdOfKey(tenant, 'POST /api/dag/run', key)
}

async function pinDocument(world: StartWorld, tenant: string, dag: Dag, dag_hash: string) {
  const stored = await world.objects.put(tenant, Buffer.from(canonicalJson(dag)))
  const machine = await world.machine.ensure(compileDag(dag).text, dag_hash)
  return { dag_ref: stored.ref, machine }
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

function newRun(meta: Meta, context: NewRun['context'], now: number): NewRun {
  const { dag_name, dag_hash, inputs_hash, starter, options, created_at } = meta
  const deadline_at = new Date(now + options.deadline_sec * 1_000).toISOString()
  const caps = { max_parallel: options.max_parallel, deadline_sec: options.deadline_sec }
  return {
    meta,
    context,
    deadline_at,
    check_at: earlier(deadline_at, new Date(now + OUTBOX_GRACE_MS).toISOString()),
    event: { type: 'run:started', data: { dag_name, dag_hash, inputs_hash, starter, deadline_at, caps } },
    outbox: [{ id: 'start', at: created_at, kind: 'start_run' }],
  }
}

function edgesOf(dag: Dag): number {
  return dag.blocks.reduce((sum, { upstream }) => sum + upstream.length, 0)
}

function keyReused(runId: string): Fault {
  const message = `Cannot start: this Idempotency-Key already started run "${runId}" with another body. Send the same body, or a new key.`
  return new Fault('InvalidInput', 'idempotency_key_reused', message, { status: 422, facts: { run_id: runId } })
}
