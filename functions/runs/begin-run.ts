import { type Principal, personName, principalName } from '../../shared/auth/principal.ts'
import type { Dag } from '../../shared/dag/dag.ts'
import { Fault } from '../../shared/errors.ts'
import { unknownPersonMessage } from '../../shared/runs/approval.ts'
import { newRunId, runIdOfIdempotencyKey, runIdOfKey } from '../../shared/runs/ids.ts'
import { joinLabels, LABEL_LIMITS, type Labels } from '../../shared/runs/labels.ts'
import type { Meta, RunKey } from '../../shared/runs/run-store.ts'
import { SUBJECT_LIMITS } from '../../shared/runs/subject.ts'
import { sha256 } from '../../shared/text/hash.ts'
import { canonicalJson } from '../../shared/text/json.ts'
import type { World } from '../../shared/world.ts'
import { requireSpendingLeft } from '../provider-spending.ts'
import { admitRun, refuseHeld } from './admit-run.ts'
import { createRun, type RunOrder } from './create-run.ts'
import { linkLineage } from './lineage.ts'

type EnterWorld = Pick<World, 'runs' | 'objects' | 'outbox' | 'clock' | 'ids' | 'log' | 'settings' | 'spending'>

/** A request for a root run, checked: what it runs, and what makes a repeat of it the same request. */
export interface RunRequest
  extends Pick<
    RunOrder,
    | 'dag'
    | 'dag_hash'
    | 'scripts'
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
    | 'follows'
    | 'goal'
    | 'turn'
    | 'priority'
    | 'labels'
    | 'subjects'
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
export async function beginRun(
  world: EnterWorld,
  principal: Principal,
  request: RunRequest,
  launch: (run: RunKey) => Promise<void>,
): Promise<BegunRun> {
  const { route: _, key, of_anybody: __, body, options: wanted, machine, ...given } = request
  const order = { ...given, labels: startLabels(world, given) }
  requireSubject(given)
  const run = { tenant: principal.tenant, run_id: runIdFor(world, principal, request) }
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
  await refuseHeld(world, run.tenant, order.dag.name)
  const there = key === undefined ? undefined : await madeBefore(world, run)
  const spender = { tenant: run.tenant, dag: order.dag.name, labels: order.labels }
  if (there === undefined) await requireSpendingLeft(world, spender)
  const admitted =
    there !== undefined ? { meta: there, created: false, queued: false } : await admitRun(world, run, make, order)
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

/** Those of the place, of the document and of the request. Fault InvalidInput too_many_labels. */
function startLabels(
  { settings }: Pick<World, 'settings'>,
  { dag, labels }: Pick<RunRequest, 'dag' | 'labels'>,
): Labels {
  const all = joinLabels(settings.labels, dag.labels, labels)
  const count = Object.keys(all).length
  if (count <= LABEL_LIMITS.labels) return all
  const message = `Cannot start DAG "${dag.name}": with those of the place and of the document the run has ${count} labels, and at most ${LABEL_LIMITS.labels} are allowed. Leave some out.`
  throw new Fault('InvalidInput', 'too_many_labels', message, { status: 422, facts: { count } })
}

/** A document that says whose data its runs hold has no run of nobody: it would be found by no erasure. */
function requireSubject({ dag, subjects = [] }: Pick<RunRequest, 'dag' | 'subjects'>): void {
  if (dag.subjects === undefined || subjects.length > 0) return
  const paths = dag.subjects.join(', ')
  const message = `Cannot start DAG "${dag.name}": nothing says whose data the run holds. Its document names ${paths}: a text of 1 to ${SUBJECT_LIMITS.characters} characters on one line, or a number. Give that input, or a subject with the start (--subject).`
  throw new Fault('InvalidInput', 'subject_missing', message, { status: 422, facts: { subject: dag.subjects } })
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

function runIdFor({ ids }: Pick<World, 'ids'>, principal: Principal, { route, key, of_anybody }: RunRequest): string {
  if (key === undefined) return newRunId(ids.random(17))
  const { tenant } = principal
  return of_anybody === true
    ? runIdOfKey(tenant, route, key)
    : runIdOfIdempotencyKey(tenant, principalName(principal), route, key)
}

function optionsOf({ settings }: EnterWorld, options: RunRequest['options']): Meta['options'] {
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
