import { isActing } from '../../shared/agents/agent-items.ts'
import { LINEAGE_ROUTES, type RetryRunBody } from '../../shared/api/lineage-routes.ts'
import { documentChange, undeployedDocument } from '../../shared/approvals/find-run-changes.ts'
import { NOT_DEPLOYED } from '../../shared/approvals/run-change-lines.ts'
import type { Principal } from '../../shared/auth/principal.ts'
import { compileDag } from '../../shared/compile/compile-dag.ts'
import type { Block, Dag } from '../../shared/dag/dag.ts'
import { HANDLERS_BEYOND_PORTS } from '../../shared/dag/handlers.ts'
import { topologicalOrder, withBlocksAfter } from '../../shared/dag/order.ts'
import { Fault } from '../../shared/errors.ts'
import { targetInputs } from '../../shared/goals/bind-contract.ts'
import { runInputsRead } from '../../shared/runs/block-inputs.ts'
import { blockOutcome, type Head } from '../../shared/runs/head.ts'
import { runApiPaths } from '../../shared/runs/ids.ts'
import { currentLabels, joinLabels } from '../../shared/runs/labels.ts'
import type { KeptTurns, RunGoal, RunKey } from '../../shared/runs/run-store.ts'
import { turnItem } from '../../shared/runs/turns-and-calls.ts'
import { canonicalJson, type Json } from '../../shared/text/json.ts'
import { listed, suggest } from '../../shared/text/wording.ts'
import type { World } from '../../shared/world.ts'
import { changeHandler } from '../http-handler.ts'
import { type Pinned, readPinned } from '../record/pinned-run.ts'
import { requireRun } from '../require-run.ts'
import { authoredParts, changesFromRetriedRun, requireAuthor } from './authoring.ts'
import { type BegunRun, beginRun, type RunRequest } from './begin-run.ts'
import { childDocuments } from './child-documents.ts'
import { withCodeOfToday } from './code-of-today.ts'
import { givenContext, MADE_KEYS, requestKeys, retriedValues } from './context.ts'
import { keptScripts } from './create-run.ts'
import { type BoundDocument, bindDocument, type DocumentWorld, deployedDocument } from './documents.ts'
import { pinTools } from './pin-tools.ts'
import { prepareStartValues } from './start-values.ts'

export const handler = changeHandler({
  name: 'retry-run',
  schema: LINEAGE_ROUTES['retry-run'],
  run: async (call, world) => {
    const { principal, body, headers } = call
    const ended = await requireRun(world, call)
    const { begun, reused_expected } = await retryRun(world, principal, {
      ...ended,
      body,
      key: headers['idempotency-key'],
    })
    const { run, created, dag_name, dag_hash, blocks, edges } = begun
    const links = runApiPaths(run.run_id)
    const json = { run_id: run.run_id, dag_name, dag_hash, blocks, edges, retry_of: ended.run.run_id, links }
    return { status: created ? 201 : 200, json: { ...json, reused_expected: [...reused_expected] } }
  },
})

/**
 * A linked run in place of an ended one; the same key is the same run. It is written owing its start, which send-outbox hands
 * to start-run: nothing here starts executions or makes machines.
 */
export async function retryRun(
  world: World,
  principal: Principal,
  retry: { readonly run: RunKey; readonly head: Head; readonly body: RetryRunBody; readonly key: string | undefined },
): Promise<{ readonly begun: BegunRun; readonly reused_expected: readonly string[] }> {
  const { run: old, body, key } = retry
  const { order, reused_expected } = await orderRetry(world, principal, retry)
  const entry = { ...order, route: `POST /api/dag/runs/${old.run_id}/retry`, key, body }
  return { begun: await beginRun(world, principal, entry, (run) => world.outbox.nudge(run)), reused_expected }
}

type RetryWorld = DocumentWorld & Pick<World, 'runs' | 'objects' | 'machine' | 'documents' | 'mcp' | 'isolate'>

/** A retry, checked, and which results it will most likely take over. */
interface RetryOrder {
  readonly order: Omit<RunRequest, 'route' | 'key' | 'body'>
  readonly reused_expected: readonly string[]
}

/**
 * What a retry of a run starts: its pinned document or an edited one, its values under those given now, its options.
 * Faults: Conflict run_not_ended, run_is_child, run_is_research; NotFound unknown_block; those of a start.
 */
async function orderRetry(
  world: RetryWorld,
  principal: Principal,
  { run, head, body }: { readonly run: RunKey; readonly head: Head; readonly body: RetryRunBody },
): Promise<RetryOrder> {
  if (head.state === 'running') throw notEnded(run)
  const old = await readPinned(world, run)
  if (old.meta.kind === 'research') throw isQuestion(run)
  if (old.meta.parent !== undefined) throw isChild(run, old.meta.parent.run_id)
  const completed = new Set(old.dag.blocks.map(({ id }) => id).filter((id) => isCompleted(old, head, id)))
  const bound = await documentOf(world, old, completed, body)
  const { dag_hash, scripts } = bound
  requireAuthor(world.settings, principal, [
    ...changesFromRetriedRun(old, dag_hash, world.settings),
    ...(await undeployedAgain(world, run.tenant, bound)),
    ...authoredParts(body, bound.dag),
  ])
  // Those of the run stay frozen as they are; an edited document has its tools of today. Whoever may not retry asks no server.
  const dag = body.dag === undefined ? bound.dag : await pinTools(world, run.tenant, bound.dag)
  const again = blocksAgain(dag, body.from_block)
  const transcript = await keptTurns(world, { run, old, dag }, body)
  const values = await retriedValues(world, principal, { run, old, dag })
  const overrides = { ...values.overrides, ...body.overrides }
  const documents = await childDocuments(world, run.tenant, dag)
  const kept = await keptContract(world, old, body)
  const given = { inputs: body.inputs, context: body.context, overrides, goal_contract: kept, subject: body.subject }
  const made = MADE_KEYS
  const from = { ...documents, made }
  const started = await prepareStartValues(world, run.tenant, dag, given, values.earlier, from)
  const { context, goal, turn, subjects = [] } = started
  const began = { dag, context, given: requestKeys(body), made, before: { run, ...old } }
  const told = await givenContext(world, began)
  const { text, parts } = compileDag(dag)
  const past = { dag: old.dag, context: values.context, overrides: old.meta.overrides, completed }
  const { continues, options } = old.meta
  return {
    order: {
      dag,
      dag_hash,
      scripts,
      machine: await world.machine.named(text, dag_hash, parts),
      context,
      overrides,
      ...documents,
      ...told,
      ...(await editedOf(world, run, old, bound)),
      options: { ...options, ...body.options },
      labels: joinLabels(currentLabels(old.meta, head), body.labels),
      retry_of: { run_id: run.run_id, again, ...transcript },
      root: old.meta.root ?? run.run_id,
      ...(continues === undefined ? {} : { continues }),
      ...(turn === undefined ? {} : { turn }),
      priority: body.priority,
      subjects: [...subjects, ...(old.meta.subjects ?? [])],
      ...goalOf(goal, kept === undefined ? undefined : old.meta.goal),
    },
    reused_expected: expectedReuse(past, { dag, context, overrides, again }),
  }
}

/** Where deployments alone make machines, that of a document which is not deployed (any more) cannot be made again. */
async function undeployedAgain(world: RetryWorld, tenant: string, { dag, dag_hash }: BoundDocument) {
  if (world.settings.authoring === 'open') return []
  const deployed = await deployedDocument(world, tenant, dag.name)
  return deployed?.dag_hash === dag_hash ? [] : [`a document that is not deployed (any more) ("${dag.name}")`]
}

/**
 * Always against the deployed document, so that no edit hides another. Where none of its name is deployed: against the
 * document of the first run that brought one, in a chain of retries that each may edit it.
 */
async function editedOf(
  world: RetryWorld,
  run: RunKey,
  { dag, meta }: Pinned,
  now: BoundDocument,
): Promise<Pick<RunRequest, 'edited'>> {
  const deployed = await deployedDocument(world, run.tenant, now.dag.name)
  if (deployed !== undefined) {
    const edited = documentChange(now, { ...deployed, of: 'deployed' })
    return edited === undefined ? {} : { edited }
  }
  const first = meta.edited?.of ?? NOT_DEPLOYED
  const isRun = first !== NOT_DEPLOYED && first !== 'deployed'
  const since = isRun ? await readPinned(world, { tenant: run.tenant, run_id: first }) : { dag, meta }
  const edited = documentChange(now, { dag: since.dag, dag_hash: since.meta.dag_hash, of: since.meta.run_id })
  return { edited: edited ?? undeployedDocument(now) }
}

/** Results of a document that is edited are taken over block by block, as their hashes say. */
async function documentOf(
  world: RetryWorld,
  { dag, meta }: Pinned,
  completed: ReadonlySet<string>,
  body: RetryRunBody,
): Promise<BoundDocument> {
  if (body.dag !== undefined) return bindDocument(world, meta.tenant, body.dag, dag.name)
  const scripts = await keptScripts(world, meta.tenant, dag)
  const now = await withCodeOfToday(world, dag, { doing: 'retry', asItWas: completed })
  return { dag: now, dag_hash: meta.dag_hash, scripts }
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

const NAMED = 20

/** Blocks a retry begins again with: `from` and all that depend on it. Fault NotFound unknown_block. */
function blocksAgain(dag: Dag, from: string | undefined): readonly string[] {
  if (from === undefined) return []
  const ids = dag.blocks.map((block) => block.id)
  if (ids.includes(from)) return withBlocksAfter(dag, from)
  const near = suggest(from, ids)
  const hint = near === undefined ? '' : ` Did you mean "${near}"?`
  const more = ids.length > NAMED ? ` and ${ids.length - NAMED} more` : ''
  const message = `Cannot retry from block "${from}": DAG "${dag.name}" has ${listed(ids.slice(0, NAMED))}${more}.${hint}`
  throw new Fault('NotFound', 'unknown_block', message)
}

/**
 * The turns of the earlier run that an agent goes on behind. Faults InvalidInput turns_without_agent (no agent that calls
 * tools), turn_not_there.
 */
async function keptTurns(
  world: Pick<World, 'runs'>,
  { run, old, dag }: { readonly run: RunKey; readonly old: Pinned; readonly dag: Dag },
  { from_block: id, keep_turns: turns, say }: RetryRunBody,
): Promise<{ readonly transcript?: KeptTurns }> {
  if (turns === undefined && say === undefined) return {}
  const index = old.index.get(id ?? '')
  const acts = dag.blocks.some((block) => block.id === id && isActing(block))
  if (id === undefined || turns === undefined || index === undefined || !acts || !isActing(old.dag.blocks[index])) {
    const message =
      'Cannot keep turns: keep_turns goes with from_block, the id of a block whose agent calls tools, and say goes with keep_turns.'
    throw new Fault('InvalidInput', 'turns_without_agent', message, { status: 422 })
  }
  const kept = old.meta.retry_of?.transcript
  const before = kept?.block === id ? kept.turns : 0
  const kept_turns = { transcript: { block: id, turns, ...(say === undefined ? {} : { say }) } }
  const [newest] = await world.runs.itemProjections(run, index, [turnItem(turns - 1)])
  if (turns <= before || newest?.state === 'completed') return kept_turns
  const items = await world.runs.itemProjections(run, index)
  const own = items.flatMap(({ item = 0, state }) =>
    state === 'completed' && item % 100 === 0 ? [item / 100 + 1] : [],
  )
  const there = Math.max(before, 0, ...own)
  const message = `Cannot keep ${turns} turns of block "${id}": run "${run.run_id}" has ${there}. \`sluice run transcript ${run.run_id} ${id}\` shows them.`
  throw new Fault('InvalidInput', 'turn_not_there', message, { status: 422 })
}

type Values = Readonly<Record<string, Json>>

/** A run, or the one that retries it: its document and what its blocks are given from outside. */
interface GivenRun {
  readonly dag: Dag
  readonly context: Values
  readonly overrides: Values
}

/**
 * Blocks of a retry whose results are likely to be taken over, in document order: the same definition, completed, every
 * source of theirs among them, and no value from outside changed. Likely: what counts is the hash of the inputs when a
 * block begins, and whether its gates still hold.
 */
function expectedReuse(
  before: GivenRun & { readonly completed: ReadonlySet<string> },
  now: GivenRun & { readonly again: readonly string[] },
): readonly string[] {
  const earlier = new Map(before.dag.blocks.map((block) => [block.id, block]))
  const blocks = new Map(now.dag.blocks.map((block) => [block.id, block]))
  const reused = new Set<string>()
  for (const id of topologicalOrder(now.dag)) {
    const block = blocks.get(id)
    if (block === undefined || now.again.includes(id) || !before.completed.has(id)) continue
    if (earlier.get(id)?.hash !== block.hash || isOfItsRun(block)) continue
    if (sourcesOf(block).every((source) => reused.has(source)) && !isChanged(block, before, now)) reused.add(id)
  }
  return now.dag.blocks.map(({ id }) => id).filter((id) => reused.has(id))
}

/** It changes its run's context, or looks at its run, so it is done again. */
function isOfItsRun(block: Block): boolean {
  return block.mode === 'deterministic' && HANDLERS_BEYOND_PORTS[block.handler] === 'run'
}

function sourcesOf({ inputs }: Block): readonly string[] {
  return Object.values(inputs).flatMap(({ from }) => (from === undefined ? [] : [from.block]))
}

function isChanged(block: Block, before: GivenRun, now: GivenRun): boolean {
  const ports = Object.entries(block.inputs).flatMap(([port, { from }]) => (from === undefined ? [port] : []))
  const names = [...ports, ...runInputsRead(now.dag, block), ...runInputsRead(before.dag, block)]
  if (names.some((name) => !isSame(before.context, now.context, name))) return true
  return Object.keys(block.inputs).some((port) => !isSame(before.overrides, now.overrides, `${block.id}.${port}`))
}

function isSame(a: Values, b: Values, key: string): boolean {
  const [one, other] = [Object.hasOwn(a, key) ? a[key] : undefined, Object.hasOwn(b, key) ? b[key] : undefined]
  return one === undefined || other === undefined ? one === other : canonicalJson(one) === canonicalJson(other)
}
