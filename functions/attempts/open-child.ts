import * as z from 'zod'
import { compileDag } from '../../shared/compile/compile-dag.ts'
import { type Block, type Dag, opensChild as isParent } from '../../shared/dag/dag.ts'
import { placeholderValue, renderTemplate } from '../../shared/dag/template.ts'
import { Fault, MachineSignal } from '../../shared/errors.ts'
import { type Question, QuestionSchema } from '../../shared/research/payloads/intent.ts'
import { childOutputSources } from '../../shared/runs/block-outputs.ts'
import { smallestCaps } from '../../shared/runs/caps.ts'
import { childLabels, currentLabels } from '../../shared/runs/labels.ts'
import { PHASE, readOrdinal } from '../../shared/runs/lane.ts'
import { childDocumentOf, type Meta } from '../../shared/runs/run-store.ts'
import { sha256 } from '../../shared/text/hash.ts'
import { canonicalJson, type Json } from '../../shared/text/json.ts'
import { shortRedacted } from '../../shared/text/short-text.ts'
import type { World } from '../../shared/world.ts'
import { functionHandler, type HostContext } from '../handler.ts'
import { MachineInputSchema, toRunKey } from '../record/pinned-run.ts'
import { readOwnProjection } from '../record/projections.ts'
import { childDocument, childDocuments, childSource } from '../runs/child-documents.ts'
import { createRun, type RunOrder } from '../runs/create-run.ts'
import { readDocument } from '../runs/documents.ts'
import { comeToTurn, hasTurn } from '../runs/key-turns.ts'
import { pinTools } from '../runs/pin-tools.ts'
import { prepareResearchRun, RESEARCH_DEADLINE_SEC } from '../runs/prepare-research-run.ts'
import { prepareStartValues } from '../runs/start-values.ts'
import { advanceLane, failBlockOnFault } from './advance.ts'
import { isFedTainted } from './agents/taint.ts'
import { type Failure, toFailure } from './attempt-outcome.ts'
import { type BlockCall, type BlockInputs, childRunKey, wasClaimedWithChild } from './block-call.ts'
import { type BlockReport, reportBlock, reportRecorded, retryBlock } from './block-report.ts'
import { childCaps, childReserve } from './budget.ts'
import { claimAttempt, findNextAttempt, type OpenAttempt, recordPreGateVerdicts } from './claim.ts'
import { storeBinding } from './decision-binding.ts'
import { finishAttempt, skipBlock } from './end.ts'
import { isHeld } from './hold.ts'
import { openBlockCall } from './open-block-call.ts'
import { askUnlessOver, type PreparedAttempt, prepareAttempt } from './prepare.ts'
import { earlierChildRun } from './reuse.ts'

const InputSchema = z.strictObject({
  in: MachineInputSchema,
  block: z.string().min(1),
  token: z.string().min(1),
  e: z.int().min(0).optional(),
  /** A call of an agent. */
  item: z.int().min(0).optional(),
})

/**
 * `<id>` of a `mode: dag` block: opens its child run, whose end answers the task token. Where there is nothing to wait
 * for (a skip, a refusal, a failure before the child, a retry that is not due) the token is answered at once and
 * `_close_<id>` does the rest (docs/adr/0024).
 */
export const handler = functionHandler({
  name: 'open-child',
  input: InputSchema,
  async run({ in: input, token, ...place }, world, host) {
    const call = await openBlockCall(world, toRunKey(input), place)
    if (isHeld(call, 'close') || !(await isAwaiting(call, token, host))) await world.machine.answer(token, { ok: {} })
    return {}
  },
})

async function isAwaiting(call: BlockCall, token: string, host: HostContext): Promise<boolean> {
  const open = (now: BlockCall, undecided: boolean) => tryChild(now, token, undecided, host.signal)
  try {
    const report = await failBlockOnFault(call, host, () => advanceLane(call, open))
    return report.state === 'running'
  } catch (error) {
    // The state that waits knows neither RetryBlock nor AskPerson: `_close_<id>` finds the same and raises it.
    if (error instanceof MachineSignal) return false
    throw error
  }
}

/**
 * The next attempt of a `mode: dag` block: its claim, which names the child run, then the child itself, which owes its
 * own start. State `running` in the report: the token now waits for the child. Repeated at any point it goes on: the
 * child's id follows from the attempt, a child that is there stays as it is and only gains the token.
 */
async function tryChild(
  call: BlockCall,
  token: string,
  undecided: boolean,
  signal: AbortSignal | undefined,
): Promise<BlockReport> {
  const open = await openChildAttempt(call)
  call.world.log.note?.({ attempt: open.attempt, epoch: call.epoch })
  const ready = await orderAttempt(call, open.attempt)
  if (ready.unwanted === true) return skipBlock(call, { because: [], condition: 'when' })
  if (undecided) await askUnlessOver(call, ready)
  const child = ready.order?.run.run_id
  const claim = child === undefined ? ready : { ...ready, child }
  const begun = open.claimed ? await goOnWith(call, open, ready) : await claimAttempt(call, open, claim, signal)
  if (begun === 'ended') return reportRecorded(call)
  if (ready.order !== undefined) {
    const claimed = open.claimed ? await readOwnProjection(call, open.lane ?? 0) : ready
    return startChild(call, open.attempt, token, { ...ready.order, binding_ref: claimed?.binding_ref })
  }
  const bare = { attempt: open.attempt, verdicts: [], gate_events: [] }
  const end = ready.taken ?? (ready.failure === undefined ? bare : { ...bare, failure: ready.failure })
  return finishAttempt(call, end, { inputs_hash: ready.hash, inputs: ready, before: ready.pre.verdicts })
}

/** Who claimed may have died before the verdicts of the pre-gates were recorded: nothing completes without them. */
async function goOnWith(call: BlockCall, { attempt, lane }: OpenAttempt, ready: PreparedAttempt) {
  const { leg, phase } = readOrdinal(lane ?? 0)
  return leg === 0 && phase < PHASE.claimed + 9 ? recordPreGateVerdicts(call, attempt, ready) : undefined
}

/** What its first questions bind was fixed with the claim, whoever opens it. */
type ClaimedOrder = ChildOrder & { readonly binding_ref: string | undefined }

async function startChild(
  call: BlockCall,
  attempt: number,
  token: string,
  { binding_ref, ...order }: ClaimedOrder,
): Promise<BlockReport> {
  const { world, run, block, epoch, head } = call
  const isTainted = call.acting?.call?.tainted ?? (await isFedTainted(call, block))
  const bound = {
    ...(binding_ref === undefined ? {} : { binding_ref }),
    ...(isTainted ? { tainted: true as const } : {}),
  }
  const link = { run_id: run.run_id, block_id: block.id, epoch, attempt, ...bound }
  const { created, meta } = await createRun(call.storage.given, {
    ...order,
    labels: childLabels(currentLabels(call.meta, head), order.dag.labels),
    parent: { link, token, deadline_at: head.deadline_at },
    queued: order.turn !== undefined,
  })
  const { run_id } = order.run
  if (created) world.log.info('child run opened', { run_id, dag_name: order.dag.name, parent: run.run_id })
  if (hasTurn(meta) && (await world.runs.head(order.run, []))?.queued === true) await comeToTurn(world, meta)
  await world.outbox.nudge(order.run)
  // The token first, then HEAD; a child that ends writes HEAD first, then reads the tokens: one sees the other.
  const child = await world.runs.head(order.run, [])
  const state = child?.state === 'running' ? 'running' : 'ready'
  return reportBlock(call, { state, attempt, seq: head.seq, verdicts: [] })
}

/** An attempt that was claimed with its child is never lost: whoever comes next goes on with it. */
async function openChildAttempt(call: BlockCall): Promise<OpenAttempt & { readonly claimed: boolean }> {
  const { attempt, phase } = readOrdinal(call.lane ?? 0)
  const goesOn = call.resumed !== undefined
  if (!goesOn && call.lane !== undefined && phase !== PHASE.retrying && wasClaimedWithChild(call, attempt)) {
    return { attempt, lane: call.lane, claimed: true }
  }
  const open = await findNextAttempt(call)
  if (open === 'lost_for_good') throw retryBlock(call)
  return { ...open, claimed: false }
}

/** Inputs and pre-gates of an attempt whose work is a child run, and what that starts with; what is wrong with any is its failure. */
async function orderAttempt(
  call: BlockCall,
  attempt: number,
): Promise<PreparedAttempt & { readonly order?: ChildOrder }> {
  const { taken, ...ready } = await prepareAttempt(call, attempt)
  if (ready.failure !== undefined || ready.unwanted === true || !isParent(call.block.mode)) return ready
  // What a child was opened for is the child's.
  if (taken !== undefined && !wasClaimedWithChild(call, attempt)) return { ...ready, taken }
  try {
    const order = await orderOf(call, attempt, ready)
    return { ...ready, order, reserve: childReserve(order.caps ?? {}), ...(await bindChild(call, ready)) }
  } catch (error) {
    if (error instanceof Fault && error.name === 'Unavailable') throw error
    return { ...ready, failure: withIssue(toFailure(call, error), error) }
  }
}

function orderOf(call: BlockCall, attempt: number, ready: PreparedAttempt): Promise<ChildOrder> {
  const { block } = call
  if (block.mode === 'dag') return prepareChildRun(call, block, attempt, ready)
  if (block.mode === 'research') return orderQuestion(call, block, attempt, ready.values)
  throw new Fault('Bug', 'no_child', `Block "${block.id}" has no child run to open.`)
}

/**
 * What questions of the child bind of this run: where it, or a run below it, may ask, and where what it does stands behind
 * a decision itself, so that a question of its own shows that, and nothing below it changes either.
 */
async function bindChild(
  call: BlockCall,
  { decisions = [] }: PreparedAttempt,
): Promise<{ readonly binding_ref?: string }> {
  const { meta, block } = call
  const isBound = decisions.length > 0 || meta.parent?.binding_ref !== undefined
  if (!isBound && childDocumentOf(block, meta.children)?.asks !== true) return {}
  return { binding_ref: (await storeBinding(call)).binding_ref }
}

/** A reason is one text: of a child's document or values that are wrong in several places it tells the first. */
function withIssue(failure: Failure, error: unknown): Failure {
  const [first] = error instanceof Fault ? error.issues : []
  if (first === undefined || failure.reason.includes(first.message)) return failure
  return { ...failure, reason: shortRedacted(`${failure.reason} First: ${first.path}: ${first.message}`) }
}

type ResearchBlock = Extract<Block, { mode: 'research' }>
type Values = Readonly<Record<string, Json>>

/** What an attempt of a `mode: research` block starts: its question, under what is left of its run's budget and time. */
async function orderQuestion(
  call: BlockCall,
  block: ResearchBlock,
  attempt: number,
  values: Values,
): Promise<ChildOrder> {
  const { world, meta, run } = call
  await refuseTooDeepChild(world, meta, `the research of block "${block.id}"`)
  const question = questionOf(block, values)
  const order = await prepareResearchRun(world, run.tenant, question, {
    parent_loop: `${run.run_id}.${block.id}`,
  })
  const { budget_tokens: tokens } = block.research
  const left = await childCaps(call, { budget: { tokens, on_exceed: 'fail' } })
  return {
    ...order,
    machine: await order.machine(),
    ...childRunBase(call, attempt, Math.min(RESEARCH_DEADLINE_SEC, world.settings.safety.max_run_sec)),
    body_hash: order.research.inputs_hash,
    caps: smallestCaps(left, order.caps),
  }
}

/** A hint that comes to nothing is left out; a topic has to say something. */
function questionOf(block: ResearchBlock, values: Values): Question {
  const { topic, hints, ...bounds } = block.research
  const rendered = renderTemplate(topic, values)
  if (!rendered.ok) {
    const message = `Cannot ask the question of block "${block.id}": ${rendered.missing.join(', ')} has no value. Give it as a run input, a default, or wire it with "from".`
    throw new Fault('InvalidInput', 'missing_input', message)
  }
  const said = Object.entries(hints).flatMap(([key, text]) => {
    const hint = renderTemplate(text, values)
    return hint.ok && hint.text.trim() !== '' ? [[key, hint.text] as const] : []
  })
  const read = QuestionSchema.safeParse({ topic: rendered.text, hints: Object.fromEntries(said), ...bounds })
  if (read.success) return read.data
  const [issue] = read.error.issues
  const message = `Cannot ask the question of block "${block.id}": "${issue?.path.join('.')}" is not allowed: ${issue?.message}. Shorten or fill it.`
  throw new Fault('InvalidInput', 'invalid_question', message)
}

/** A child run but for the token that waits for it. */
type ChildOrder = Omit<RunOrder, 'parent'>
type ChildBlock = Extract<Block, { mode: 'dag' }>

/** What an attempt of a `mode: dag` block starts; its faults fail the block. */
async function prepareChildRun(
  call: BlockCall,
  block: ChildBlock,
  attempt: number,
  { values, decisions = [] }: Pick<BlockInputs, 'values' | 'decisions'>,
): Promise<ChildOrder> {
  const { world, meta } = call
  await refuseTooDeepChild(world, meta, `DAG "${block.dag.name}" for block "${block.id}"`)
  const bound = await readDocument(world, meta.tenant, await childSource(world, block.dag.name))
  const { dag_hash, scripts } = bound
  const dag = await pinTools(world, meta.tenant, bound.dag)
  const isBound = decisions.length > 0 || meta.parent?.binding_ref !== undefined || call.acting !== undefined
  if (isBound && !wasClaimedWithChild(call, attempt)) await requireSame(call, block)
  refuseOutputs(block, dag)
  const inputs = childInputs(block, values)
  const { text, parts } = compileDag(dag)
  const begins = await prepareStartValues(world, meta.tenant, dag, { inputs }, {}, 'parent')
  await refuseOwnQueue(world, meta, { id: block.id, name: block.dag.name, turn: begins.turn })
  return {
    ...childRunBase(call, attempt, world.settings.safety.max_run_sec),
    dag,
    dag_hash,
    scripts,
    machine: await world.machine.deployed(text, dag_hash, parts),
    ...begins,
    ...(await childDocuments(world, meta.tenant, dag)),
    overrides: {},
    body_hash: sha256(canonicalJson({ name: block.dag.name, inputs })),
    caps: await childCaps(call, dag),
    ...(await earlierChildRun(call)),
  }
}

/**
 * Fault Rejected approval_stale: what the decision before it let happen is another document now; tool_changed: what the
 * agent was offered is.
 */
async function requireSame({ world, meta, acting }: BlockCall, block: ChildBlock): Promise<void> {
  const { name } = block.dag
  if (meta.children === undefined) return
  const now = await childDocument(world, meta.tenant, name)
  if (now?.hash === childDocumentOf(block, meta.children)?.hash) return
  if (acting !== undefined) {
    const changed = `Cannot call dag.${name}: the document, or one below it, has changed since this run was started, and its tools are those of then. Start the run anew to take the new one.`
    throw new Fault('Rejected', 'tool_changed', changed, { facts: { tool: `dag.${name}` } })
  }
  const message = `Cannot start DAG "${name}" for block "${block.id}": the document, or one below it, has changed since this run was started, and what people decided is about the one of then. Retry the run, and people are asked again.`
  throw new Fault('Rejected', 'approval_stale', message)
}

/** What every child run has of the attempt it is opened for; `most_sec` besides what is left to its parent. */
function childRunBase(
  call: BlockCall,
  attempt: number,
  most_sec: number,
): Pick<RunOrder, 'run' | 'options' | 'starter' | 'starter_person'> {
  const { world, meta, head } = call
  const left = Math.ceil((Date.parse(head.deadline_at) - world.clock.now()) / 1_000)
  const deadline_sec = Math.max(1, Math.min(left, most_sec))
  const { starter, starter_person } = meta
  return { run: childRunKey(call, attempt), options: { ...meta.options, deadline_sec }, starter, starter_person }
}

/** Templates over the block's inputs; a text that is one placeholder is the value itself, and left out if it has none. */
function childInputs(
  { id, dag, inputs }: Extract<Block, { mode: 'dag' }>,
  values: Readonly<Record<string, Json>>,
): Record<string, Json> {
  const given: Record<string, Json> = {}
  if (Object.keys(dag.inputs).length === 0) {
    for (const port of Object.keys(inputs)) if (values[port] !== undefined) given[port] = values[port]
    return given
  }
  for (const [name, template] of Object.entries(dag.inputs)) {
    const value = typeof template === 'string' ? textValue(id, name, template, values) : template
    if (value !== undefined) given[name] = value
  }
  return given
}

const ONE_PLACEHOLDER = /^\s*\{\{[^{}]*\}\}\s*$/

function textValue(id: string, name: string, text: string, values: Readonly<Record<string, Json>>): Json | undefined {
  const whole = placeholderValue(text, values)
  if (whole !== undefined) return whole
  const rendered = renderTemplate(text, values)
  if (rendered.ok) return rendered.text
  if (ONE_PLACEHOLDER.test(text)) return undefined
  const message = `Cannot write input "${name}" of the child of block "${id}": ${rendered.missing.join(', ')} has no value. Give it as a run input, a default, or wire it with "from".`
  throw new Fault('InvalidInput', 'missing_input', message)
}

/** Said before anything is spent: an output this block promises that the child cannot give. */
function refuseOutputs(block: Extract<Block, { mode: 'dag' }>, dag: Dag): void {
  const missing = childOutputSources(block, dag).filter(({ sources, required, named }) => {
    return sources.length === 0 && (required || named !== undefined)
  })
  const [first] = missing
  if (first === undefined) return
  const { port, named } = first
  const seen = named === undefined ? `no last block with an output "${port}"` : `no output "${named}"`
  const fix = `Name one under dag.outputs of block "${block.id}": ${port}: BLOCK.OUTPUT.`
  const message = `Cannot start DAG "${block.dag.name}": output "${block.id}.${port}" comes from it, but it has ${seen}. ${fix}`
  throw new Fault('InvalidInput', 'unknown_child_output', message)
}

/**
 * Fault Conflict waits_for_itself: the child would stand in a queue in which this run, or one above it, goes on, and that one
 * goes on until the child has ended.
 */
async function refuseOwnQueue(
  { runs }: Pick<World, 'runs'>,
  meta: Meta,
  { id, name, turn }: { readonly id: string; readonly name: string; readonly turn: Meta['turn'] },
): Promise<void> {
  if (turn === undefined) return
  for (let above: Meta | undefined = meta; above !== undefined; ) {
    const { tenant, run_id, parent }: Meta = above
    if (above.turn?.queue === turn.queue) {
      const message = `Cannot start DAG "${name}" for block "${id}": run ${run_id}, which waits for it, has its turn of the same concurrency key, so it would wait for itself. Give the child another key, or its document none.`
      throw new Fault('Conflict', 'waits_for_itself', message, { facts: { run_id } })
    }
    above = parent === undefined ? undefined : await runs.meta({ tenant, run_id: parent.run_id })
  }
}

/** Runs a run may have above it: recursion ends here. */
const MAX_DEPTH = 5

/** LimitExceeded child_too_deep, before a child of this run is opened. `what` for people. */
async function refuseTooDeepChild({ runs }: Pick<World, 'runs'>, meta: Meta, what: string): Promise<void> {
  let above: Meta | undefined = meta
  for (let depth = 1; above !== undefined; depth += 1) {
    if (depth > MAX_DEPTH) {
      const message = `Cannot start ${what}: this run has ${MAX_DEPTH} parents above it already, and no more are allowed. Does a DAG start itself? Give its block a "when" that ends it.`
      throw new Fault('LimitExceeded', 'child_too_deep', message)
    }
    const { tenant, parent }: Meta = above
    above = parent === undefined ? undefined : await runs.meta({ tenant, run_id: parent.run_id })
  }
}
