import type { RetryRunBody } from '../../shared/api/lineage-routes.ts'
import { documentChange } from '../../shared/approvals/find-changes.ts'
import type { Json } from '../../shared/canonical.ts'
import { compileDag } from '../../shared/compile/compile-dag.ts'
import type { Dag } from '../../shared/dag/dag.ts'
import { Fault } from '../../shared/errors.ts'
import { targetInputs } from '../../shared/goals/bind-contract.ts'
import type { Principal } from '../../shared/principal.ts'
import { blockOutcome } from '../../shared/runs/block-lane.ts'
import { expectedReuse } from '../../shared/runs/expected-reuse.ts'
import type { Head } from '../../shared/runs/head.ts'
import type { RunGoal, RunKey } from '../../shared/runs/run-store.ts'
import type { Settings } from '../../shared/settings.ts'
import type { World } from '../../shared/world.ts'
import { authoredParts, requireAuthor } from './authoring.ts'
import { bindDocument } from './bind-document.ts'
import { blocksAgain } from './blocks-again.ts'
import type { Entry } from './enter-run.ts'
import { type Pinned, readPinned } from './read-pinned.ts'
import { retriedValues } from './retried-values.ts'
import { startValues } from './start-values.ts'

type RetryWorld = Pick<World, 'runs' | 'objects' | 'machine' | 'providers' | 'settings'>

/** A retry, checked, and which results it will most likely take over. */
export interface RetryOrder {
  readonly order: Omit<Entry, 'route' | 'key' | 'body'>
  readonly reused_expected: readonly string[]
}

/**
 * What a retry of a run starts: its pinned document or an edited one, its values under those given now, its options.
 * Faults: Conflict run_not_ended, run_is_child, run_is_research; NotFound unknown_block; those of a start.
 */
export async function orderRetry(
  world: RetryWorld,
  principal: Principal,
  { run, head, body }: { readonly run: RunKey; readonly head: Head; readonly body: RetryRunBody },
): Promise<RetryOrder> {
  if (head.state === 'running') throw notEnded(run)
  const old = await readPinned(world, run)
  if (old.meta.kind === 'research') throw isQuestion(run)
  if (old.meta.parent !== undefined) throw isChild(run, old.meta.parent.run_id)
  const { dag, dag_hash } = documentOf(world, old, body)
  requireAuthor(world.settings, principal, [
    ...changedDocument(old, dag_hash, world.settings),
    ...authoredParts(body, dag),
  ])
  const again = blocksAgain(dag, body.from_block)
  const values = await retriedValues(world, principal, { run, old, dag })
  const overrides = { ...values.overrides, ...body.overrides }
  const kept = await keptContract(world, old, body)
  const given = { inputs: body.inputs, context: body.context, overrides, goal_contract: kept }
  const { context, goal } = await startValues(world, run.tenant, dag, given, values.earlier)
  const { text, parts } = compileDag(dag)
  const completed = new Set(old.dag.blocks.map(({ id }) => id).filter((id) => isCompleted(old, head, id)))
  const before = { dag: old.dag, context: values.context, overrides: old.meta.overrides, completed }
  const { continues, options } = old.meta
  return {
    order: {
      dag,
      dag_hash,
      machine: await world.machine.named(text, dag_hash, parts),
      context,
      overrides,
      ...editedOf(old, { dag, dag_hash }),
      options: { ...options, ...body.options },
      retry_of: { run_id: run.run_id, again },
      root: old.meta.root ?? run.run_id,
      ...(continues === undefined ? {} : { continues }),
      ...goalOf(goal, kept === undefined ? undefined : old.meta.goal),
    },
    reused_expected: expectedReuse(before, { dag, context, overrides, again }),
  }
}

/** A retry has the document and the overrides of the run it retries: where nobody authors, only of one that brought none. */
function changedDocument({ meta }: Pinned, dag_hash: string, { authoring }: Pick<Settings, 'authoring'>) {
  if (dag_hash !== meta.dag_hash) return ['another document than the run it retries']
  const isOpen = authoring === 'open'
  if (isOpen || (meta.edited === undefined && Object.keys(meta.overrides).length === 0)) return []
  return ['the document and overrides of the run it retries, which were not the deployed ones']
}

/** An edited document against that of the run it retries; the same one differs from the deployed one as before. */
function editedOf({ dag, meta }: Pinned, now: { readonly dag: Dag; readonly dag_hash: string }): Pick<Entry, 'edited'> {
  const before = { dag, dag_hash: meta.dag_hash, of: meta.run_id }
  const edited = documentChange(now, before) ?? meta.edited
  return edited === undefined ? {} : { edited }
}

/** Results of a document that is edited are taken over block by block, as their hashes say. */
function documentOf(world: RetryWorld, { dag, meta }: Pinned, body: RetryRunBody) {
  if (body.dag === undefined) return { dag, dag_hash: meta.dag_hash }
  return bindDocument(world, body.dag, dag.name)
}

/**
 * The contract as it was frozen stays that of the retry: what became of the context since moves no target. That of a
 * document is read anew where the retry edits the document, or sets a target.
 */
async function keptContract(
  { objects }: Pick<World, 'objects'>,
  { dag, meta }: Pinned,
  body: RetryRunBody,
): Promise<Json | undefined> {
  const { tenant, goal } = meta
  if (goal?.contract_ref === undefined) return undefined
  const given = { ...body.context, ...body.inputs }
  const isSet = body.dag !== undefined || targetInputs(dag.goal_contract).some((name) => Object.hasOwn(given, name))
  if (goal.source === 'dag' && isSet) return undefined
  return JSON.parse(Buffer.from(await objects.get(tenant, goal.contract_ref)).toString('utf8'))
}

/** A contract that is kept comes from where it came from first. */
function goalOf(goal: RunGoal | undefined, kept: RunGoal | undefined): { readonly goal?: RunGoal } {
  if (goal === undefined) return {}
  return { goal: kept === undefined ? goal : { ...kept, completion: goal.completion } }
}

function isCompleted(old: Pinned, head: Head, id: string): boolean {
  return blockOutcome(old, head, id) === 'completed'
}

function notEnded({ run_id }: RunKey): Fault {
  const message = `Cannot retry run "${run_id}": it has not ended. Wait for it with \`sluice run watch\`, or stop it.`
  return new Fault('Conflict', 'run_not_ended', message, { facts: { run_id } })
}

function isQuestion({ run_id }: RunKey): Fault {
  const message = `Cannot retry run "${run_id}": it answers a question, and has no blocks whose results could be taken over. Ask again with POST /api/research.`
  return new Fault('Conflict', 'run_is_research', message, { facts: { run_id } })
}

function isChild({ run_id }: RunKey, parent: string): Fault {
  const message = `Cannot retry run "${run_id}": it is the child of a block of run "${parent}", which alone waits for it. Retry that one: its child takes over what this one completed.`
  return new Fault('Conflict', 'run_is_child', message, { facts: { run_id, parent } })
}
