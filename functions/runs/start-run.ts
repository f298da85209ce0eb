import * as z from 'zod'
import { START_RUN, type StartRunBody } from '../../shared/api/start-run-route.ts'
import type { Principal } from '../../shared/auth/principal.ts'
import { compileDag } from '../../shared/compile/compile-dag.ts'
import { Fault } from '../../shared/errors.ts'
import { runApiPaths } from '../../shared/runs/ids.ts'
import type { Meta, RunKey } from '../../shared/runs/run-store.ts'
import { toldEndpoints, wantsEvent } from '../../shared/webhooks/endpoint-deliveries.ts'
import type { World } from '../../shared/world.ts'
import { functionHandler, type HostContext } from '../handler.ts'
import { changeHandler } from '../http-handler.ts'
import { headAfter, lastOutputs } from '../record/end-of-run.ts'
import { readPinned } from '../record/pinned-run.ts'
import { writeLoopEntity } from '../research/stored-chain.ts'
import { endIfHeld } from './admit-run.ts'
import { authoredParts, carriedParts, requireAuthor } from './authoring.ts'
import { type BegunRun, beginRun, type RunRequest } from './begin-run.ts'
import { requestKeys } from './context.ts'
import { type ContinuedRun, readContinuedRun, takeArtifacts } from './continued-run.ts'
import { compareWithDeployed, readDocument } from './documents.ts'
import { endRun } from './end-run.ts'
import { linkLineage } from './lineage.ts'
import { standWithParent } from './pause.ts'
import { type PrepareWorld, prepareRun } from './prepare-run.ts'
import { endUnawaitedChild, isAwaited } from './stop-children.ts'

/**
 * The only function that starts executions: POST /api/dag/run, and the asynchronous invoke of the outbox for a run
 * whose HEAD and META exist.
 */
export function handler(event: unknown, context: HostContext): Promise<unknown> {
  const isHttp = typeof event === 'object' && event !== null && 'httpMethod' in event
  return isHttp ? route(event, context) : invoked(event, context)
}

const route = changeHandler({
  name: 'start-run',
  schema: START_RUN,
  async run({ principal, body, headers, query, signal }, world) {
    const begun = await startRun(world, principal, body, headers['idempotency-key'])
    const { run, created, queued, dag_name, dag_hash, blocks, edges } = begun
    const links = runApiPaths(run.run_id)
    const made = { run_id: run.run_id, dag_name, dag_hash, blocks, edges, ...(queued && { queued }) }
    const ended = query.wait > 0 ? await endAfter(world, run, query.wait, signal) : {}
    const answer = { ...made, ...ended, links }
    return { status: created ? 201 : 200, json: answer }
  },
})

async function endAfter(world: World, run: RunKey, seconds: number, signal: AbortSignal) {
  const head = await headAfter(world, run, seconds, signal)
  const { state, queued } = head
  return state === 'running'
    ? { state: queued === true ? 'pending' : state }
    : { state, outputs: await lastOutputs(world, run, head) }
}

const invoked = functionHandler({
  name: 'start-run',
  input: z.strictObject({ tenant: z.string().min(1), run_id: z.string().min(1) }),
  async run(run, world) {
    await launchRun(world, run)
    return {}
  },
})

type StartWorld = PrepareWorld & Pick<World, 'graph' | 'machine' | 'outbox' | 'clock' | 'ids' | 'log' | 'spending'>

/** Starts a run: document -> check -> compile -> goal frozen -> place, machine, HEAD and META if absent -> execution. */
async function startRun(world: StartWorld, principal: Principal, body: StartRunBody, key?: string): Promise<BegunRun> {
  const bound = await readDocument(world, principal.tenant, body)
  const { edited, is_deployed } = await compareWithDeployed(world, principal.tenant, body, bound)
  const { dag: unpinned, dag_hash, scripts } = bound
  const document = is_deployed ? [] : [`a document that is not deployed ("${unpinned.name}")`]
  const { continues, options, priority, overrides = {} } = body
  const earlier = await readContinuedRun(world, principal, { dag: unpinned, continues })
  const carried = carriedParts(unpinned, earlier, requestKeys(body))
  requireAuthor(world.settings, principal, [...document, ...authoredParts(body, unpinned), ...carried])
  const { order: prepared, compiled } = await prepareRun(world, principal.tenant, unpinned, body, earlier)
  const machine = () => world.machine.ensure(compiled.text, dag_hash, compiled.parts)
  const order = {
    ...prepared,
    dag_hash,
    scripts,
    machine,
    overrides,
    priority,
    ...(edited && { edited }),
    ...(body.labels && { labels: body.labels }),
    ...linkOf(earlier),
    subjects: [...(prepared.subjects ?? []), ...(earlier?.meta.subjects ?? [])],
  }
  const request = { ...order, route: 'POST /api/dag/run', key, body, options }
  return beginRun(world, principal, request, (run) => launchRun(world, run))
}

function linkOf(earlier: ContinuedRun | undefined): Pick<RunRequest, 'continues' | 'root'> {
  return earlier === undefined ? {} : { continues: earlier.run_id, root: earlier.root }
}

type LaunchWorld = Pick<World, 'runs' | 'objects' | 'graph' | 'machine' | 'outbox' | 'clock' | 'settings'>

/**
 * Starts the execution of a run whose HEAD and META exist, on the machine META names; started before counts as done.
 * Only here is the `start` entry of the outbox removed: whoever fails to start leaves it for the sweeper. A run that
 * has ended owes no start, a child nobody waits for and a run that starts are held from are cancelled, and one whose
 * machine refuses it for good fails in those words.
 */
export async function launchRun(world: LaunchWorld, run: RunKey): Promise<void> {
  const meta = await world.runs.meta(run)
  if (meta === undefined) throw new Fault('Bug', 'meta_missing', `Run "${run.run_id}" has no META to start from.`)
  const head = await world.runs.head(run, [])
  if (head?.state === 'running') {
    if (!(await isAwaited(world, meta))) await endUnawaitedChild(world, meta)
    else if (meta.parent !== undefined || (await endIfHeld(world, run)) === undefined)
      await startAwaited(world, run, meta)
  }
  await world.runs.settleOutbox(run, ['start'])
  // Whoever owes nothing else is not nudged by its birth.
  if (
    toldEndpoints(world.settings).some(
      (endpoint) => endpoint.tenant === run.tenant && wantsEvent(endpoint, 'run:started'),
    )
  )
    await world.outbox.nudge(run)
}

async function startAwaited(world: LaunchWorld, run: RunKey, meta: Meta): Promise<void> {
  // Its parent may have been paused before this one was there.
  if (meta.parent !== undefined) await standWithParent(world, run, meta.parent.run_id)
  await linkLineage(world, meta)
  await takeArtifacts(world, meta)
  await beginExecution(world, run, meta).catch((error: unknown) => failRefused(world, run, error))
}

async function beginExecution(world: LaunchWorld, run: RunKey, meta: Meta): Promise<void> {
  if (meta.kind === 'research') await writeLoopEntity(world, meta)
  await startExecution(world, run, meta)
}

/** No such machine, or one this place cannot run: no later try will find it otherwise. */
async function failRefused(world: LaunchWorld, run: RunKey, error: unknown): Promise<void> {
  if (!(error instanceof Fault && (error.name === 'NotFound' || error.name === 'InvalidInput'))) throw error
  const reason = `its execution could not be started: ${error.message.slice(0, 600).toWellFormed()}`
  await endRun(world, run, { state: 'failed', code: error.code, reason, stop: false })
}

/**
 * Starts the execution of a run on the machine META names. A retry only named it, and one that waited in the queue may
 * find it gone: then it is made of the run's own document. The machine of a child, and
 * that of a research run, is deployed or not at all.
 */
async function startExecution(
  world: Pick<World, 'runs' | 'objects' | 'machine'>,
  run: RunKey,
  { machine, parent, dag_hash, kind }: Meta,
): Promise<void> {
  const input = { v: 1, tenant: run.tenant, run_id: run.run_id } as const
  const order = { machine, name: run.run_id, input, owed: true } as const
  try {
    await world.machine.start(order)
  } catch (error) {
    const isDeployed = parent !== undefined || kind !== undefined
    if (isDeployed || !(error instanceof Fault) || error.code !== 'machine_unknown') throw error
    const { dag } = await readPinned(world, run).catch((why: unknown) => {
      // Without its document nobody can make it: what is told is what the start asked for.
      throw why instanceof Fault && why.name === 'NotFound' ? error : why
    })
    const { text, parts } = compileDag(dag)
    await world.machine.ensure(text, dag_hash, parts)
    await world.machine.start(order)
  }
}
