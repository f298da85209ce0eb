import * as z from 'zod'
import { type Block, opensChild as isParent } from '../../shared/dag/dag.ts'
import { renderTemplate } from '../../shared/dag/template.ts'
import { Fault, MachineSignal } from '../../shared/errors.ts'
import { type Question, QuestionSchema } from '../../shared/research/payloads/intent.ts'
import { smallestCaps } from '../../shared/runs/caps.ts'
import { PHASE, readOrdinal } from '../../shared/runs/lane.ts'
import { childDocumentOf } from '../../shared/runs/run-store.ts'
import type { Json } from '../../shared/text/json.ts'
import { shortRedacted } from '../../shared/text/short-text.ts'
import { functionHandler, type HostContext } from '../handler.ts'
import { MachineInputSchema, toRunKey } from '../record/pinned-run.ts'
import { readOwnProjection } from '../record/projections.ts'
import { createRun } from '../runs/create-run.ts'
import { prepareResearchRun, RESEARCH_DEADLINE_SEC } from '../runs/prepare-research-run.ts'
import { advanceBlock, failBlockOnFault } from './advance.ts'
import { type Failure, toFailure } from './attempt-outcome.ts'
import { type BlockCall, openBlockCall, wasClaimedWithChild } from './block-call.ts'
import { type BlockReport, reportBlock, reportRecorded, retryBlock } from './block-report.ts'
import { childCaps, childReserve } from './budget.ts'
import { type ChildOrder, childRunBase, prepareChildRun, refuseTooDeepChild } from './child-start.ts'
import { claimAttempt, findNextAttempt, type OpenAttempt, recordPreGateVerdicts } from './claim.ts'
import { storeBinding } from './decision-binding.ts'
import { finishAttempt, skipBlock } from './end.ts'
import { askUnlessOver, type PreparedAttempt, prepareAttempt } from './prepare.ts'

const InputSchema = z.strictObject({
  in: MachineInputSchema,
  block: z.string().min(1),
  token: z.string().min(1),
  e: z.int().min(0).optional(),
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
    if (!(await isAwaiting(call, token, host))) await world.machine.answer(token, { ok: {} })
    return {}
  },
})

async function isAwaiting(call: BlockCall, token: string, host: HostContext): Promise<boolean> {
  const open = (now: BlockCall, undecided: boolean) => tryChild(now, token, undecided, host.signal)
  try {
    const report = await failBlockOnFault(call, host, () => advanceBlock(call, open))
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
  const bound = binding_ref === undefined ? {} : { binding_ref }
  const link = { run_id: run.run_id, block_id: block.id, epoch, attempt, ...bound }
  const { created } = await createRun(call.storage.given, {
    ...order,
    parent: { link, token, deadline_at: head.deadline_at },
  })
  const { run_id } = order.run
  if (created) world.log.info('child run opened', { run_id, dag_name: order.dag.name, parent: run.run_id })
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
  const order = await prepareResearchRun(world, run.tenant, question, `${run.run_id}.${block.id}`)
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
