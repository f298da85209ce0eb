import { Fault, MachineSignal } from '../../shared/errors.ts'
import type { Verdict } from '../../shared/gates/gate.ts'
import type { EventData, StoredValue } from '../../shared/runs/event.ts'
import { blockOrdinal, blockOutcome } from '../../shared/runs/head.ts'
import { runIdOfKey } from '../../shared/runs/ids.ts'
import { currentLabels } from '../../shared/runs/labels.ts'
import { readOrdinal } from '../../shared/runs/lane.ts'
import { iterationsUpTo, type Meta } from '../../shared/runs/run-store.ts'
import type { BlockProjection } from '../../shared/runs/run-store-items.ts'
import { sha256 } from '../../shared/text/hash.ts'
import { canonicalJson, type Json } from '../../shared/text/json.ts'
import { shortRedacted } from '../../shared/text/short-text.ts'
import type { HostContext } from '../handler.ts'
import { carryGoal } from '../record/freeze-goal.ts'
import { readPortValues, readProjections } from '../record/projections.ts'
import { givenContext, MADE_KEYS, retriedValues } from '../runs/context.ts'
import { createRun, keptScripts } from '../runs/create-run.ts'
import { endIfOverdue, endRun } from '../runs/end-run.ts'
import { type AttemptEnd, toFailure } from './attempt-outcome.ts'
import {
  type BlockCall,
  isStale,
  type OpenQuestion,
  type PersonAnswer,
  readHead,
  wasStoppedInEarlierPass,
  whySkipped,
} from './block-call.ts'
import { type BlockReport, reportAwaitingBounce, reportBlock, reportRecorded } from './block-report.ts'
import { awaitsBounce } from './bounce.ts'
import { endAttempt, failFastRecorded, keepStopped, raiseUnlessDone, refuseBlock, skipBlock } from './end.ts'
import { gatesAskedAbout, verdictsSoFar, waiveGates } from './gate-waivers.ts'
import { approvedEdits, askedInputs, mayHaveItems } from './inputs.ts'
import { answerFacts, type Judged, judgeBlock, postGateFailure } from './judge-gates.ts'
import { giveUpAsked } from './lost-step.ts'
import { findQuestion, type Iteration, readDecision, requireAnswer } from './question.ts'
import { keepWaivedArtifacts } from './step-end.ts'

/**
 * What is left to do for a block: nothing, a skip, a person's refusal, what follows from an answer, or its work: `next`,
 * told whether a person still has to be asked.
 */
export async function advanceBlock(
  call: BlockCall,
  next: (call: BlockCall, undecided: boolean) => Promise<BlockReport>,
): Promise<BlockReport> {
  if (await isOver(call)) return reportRecorded(call)
  if (wasStoppedInEarlierPass(call)) return keepStopped(call)
  if (await awaitsBounce(call)) return reportAwaitingBounce(call)
  const skip = whySkipped(call)
  if (skip !== undefined) return skipBlock(call, skip)
  const decision = await readDecision(call)
  if (decision.kind === 'iterate') return iterateBlock(call, decision)
  if (decision.kind === 'refused') return refuseBlock(call, decision)
  return resumeAfterAnswer(call, (now) => next(now, decision.kind === 'undecided'))
}

/** The same for one item: it does not begin before its block did, and nothing is left to do for it once that has ended. */
export async function advanceItem(
  call: BlockCall,
  next: (call: BlockCall) => Promise<BlockReport>,
): Promise<BlockReport> {
  if (!mayHaveItems(call) || (await isOver(call))) return reportRecorded(call)
  return resumeAfterAnswer(call, next)
}

/** Of a block, or of one item of it, as the call says. */
export function advanceLane(
  call: BlockCall,
  next: (call: BlockCall, undecided: boolean) => Promise<BlockReport>,
): Promise<BlockReport> {
  return call.item === undefined ? advanceBlock(call, next) : advanceItem(call, (now) => next(now, false))
}

/** Whether nothing is left to do: the run, this pass of the module, or the block or item itself has ended. */
async function isOver(call: BlockCall): Promise<boolean> {
  if (call.head.state !== 'running' || isStale(call)) return true
  if (readOrdinal(call.lane ?? 0).outcome !== undefined) {
    await failFastRecorded(call)
    return true
  }
  return endIfOverdue(call)
}

/**
 * What is left to do for an attempt a person was asked about: its end, as the answer has it, or `next`, its work, which
 * it had not done yet. Nobody has answered: AskPerson. `next` as it is where nobody was asked.
 */
async function resumeAfterAnswer(
  call: BlockCall,
  next: (call: BlockCall) => Promise<BlockReport>,
): Promise<BlockReport> {
  const ask = await findQuestion(call)
  if (ask === undefined) return next(call)
  const answer = await requireAnswer(call, ask)
  if (ask.about === 'lost_step') return answerLost(call, ask, answer)
  if (answer.kind === 'no') return refuseAsked(call, ask, answer)
  if (ask.about === 'post_gates') return completeWaived(call, ask, answer)
  if (ask.events.some(({ type }) => type === 'block:output')) return judgeRest(call, ask)
  await giveUpIfEdited(call, ask)
  return next({ ...call, resumed: { ask, yes: answer } })
}

/** Only a yes makes work again that may have been done; without one the block fails. */
function answerLost(call: BlockCall, ask: OpenQuestion, answer: PersonAnswer): Promise<BlockReport> {
  const lost = `attempt ${ask.attempt} was lost in the middle of its work, which may be done once only`
  if (answer.kind === 'yes') {
    const { decided_by = 'a person' } = answer.approval
    const reason = `attempt ${ask.attempt} was lost in the middle of its work, and ${decided_by} let it be done again`
    return giveUpAsked(call, ask, { code: 'ATTEMPT_LOST', reason, feedback: ask.projection.failure?.feedback ?? [] })
  }
  const reason = shortRedacted(`${lost}: ${answer.reason}`)
  const failure = { code: 'step_effect_unknown', reason, retry: false, feedback: [reason] }
  return recordAnswered(call, ask, { ...bareEnd(ask), failure })
}

type Yes = Extract<PersonAnswer, { kind: 'yes' }>
type No = Extract<PersonAnswer, { kind: 'no' }>

/** The gates stay as they failed, and the block fails by them, in the words of who said no. */
function refuseAsked(call: BlockCall, ask: OpenQuestion, { code, reason }: No): Promise<BlockReport> {
  const failed = gatesAskedAbout(call.block, ask)
  const feedback = [...failed.map(({ name, reason: why }) => `${name}: ${why}`), reason]
  const gates = failed.map(({ name }) => name)
  const failure = { code, reason, retry: false, feedback, ...(gates.length === 0 ? {} : { gates }) }
  return recordAnswered(call, ask, { ...bareEnd(ask), failure })
}

/** Post-gates were waived: the outputs are published as they are, nothing is dispatched again. */
async function completeWaived(call: BlockCall, ask: OpenQuestion, yes: Yes): Promise<BlockReport> {
  const output = ask.events.findLast((event) => event.type === 'block:output')
  const ref = output?.type === 'block:output' ? output.data.outcome_ref : undefined
  if (ref !== undefined) await keepWaivedArtifacts(call, ask.attempt, ref)
  const gate_events = waiveGates(call, 'post', ask, yes)
  const verdicts = [...verdictsSoFar(ask.events, 'pre'), ...verdictsSoFar([...ask.events, ...gate_events], 'post')]
  return recordAnswered(call, ask, { ...bareEnd(ask), verdicts, gate_events })
}

/** Judges of the post-gates may be asked now: those that had no verdict are judged, on the outputs there are. */
async function judgeRest(call: BlockCall, ask: OpenQuestion): Promise<BlockReport> {
  const { attempt, events } = ask
  const output = events.findLast((event) => event.type === 'block:output')
  if (output?.type !== 'block:output') return recordAnswered(call, ask, bareEnd(ask))
  const inputs = await askedInputs(call, ask)
  const judged = await judgeBlock(
    call,
    'post',
    attempt,
    await answeredFacts(call, inputs.values, output.data),
    knownVerdicts(call, ask),
  )
  const end = { ...bareEnd(ask), verdicts: judged.verdicts, gate_events: judged.events, ...endOfRest(call, judged) }
  return recordAnswered(call, ask, end, inputs)
}

async function answeredFacts(
  call: BlockCall,
  inputs: Judging['inputs'],
  data: EventData<'block:output'>,
): Promise<Judging> {
  const outputs = await readPortValues(call.world, call.run.tenant, data.outputs)
  return { inputs, outputs, ...answerFacts(call, data, data.latency_ms) }
}

type Judging = Parameters<typeof judgeBlock>[3]

function knownVerdicts({ block }: BlockCall, { events }: OpenQuestion): readonly Verdict[] {
  const names = new Set(block.post_gates.map(({ name }) => name))
  return verdictsSoFar(events, 'post').filter(({ name }) => names.has(name))
}

/** Another try of a foreach block would run no item again: what failed here stays so. */
function endOfRest(call: BlockCall, judged: Judged): Pick<AttemptEnd, 'failure'> {
  const { failure } = postGateFailure(call, judged)
  if (failure === undefined) return {}
  const isWhole = call.block.foreach !== undefined && call.item === undefined
  return { failure: isWhole ? { ...failure, retry: false } : failure }
}

async function recordAnswered(
  call: BlockCall,
  { attempt, projection }: OpenQuestion,
  end: AttemptEnd,
  inputs?: Parameters<typeof endAttempt>[2]['inputs'],
): Promise<BlockReport> {
  const { inputs_hash: hash, untried } = projection
  const recorded = await endAttempt(call, end, { hash, untried, ...(inputs === undefined ? {} : { inputs }) })
  await raiseUnlessDone(call, recorded, end.failure)
  return reportBlock(call, { state: recorded.state, attempt, seq: recorded.seq, verdicts: end.verdicts })
}

function bareEnd({ attempt, projection }: OpenQuestion): AttemptEnd {
  return { attempt, verdicts: [], gate_events: [], stored: madeBefore(projection) }
}

function madeBefore({ outputs, made }: BlockProjection): NonNullable<AttemptEnd['stored']> {
  return { ...(outputs === undefined ? {} : { outputs }), ...(made === undefined ? {} : { made }) }
}

/**
 * Who approved the dispatch, after something else was asked about the attempt, may have changed its inputs: then it is
 * given up, and the next one begins with those. What was waived of inputs that stayed the same stays waived.
 */
async function giveUpIfEdited(call: BlockCall, ask: OpenQuestion): Promise<void> {
  const edits = Object.entries(await editsOfYes(call, ask))
  if (edits.length === 0 || call.lane === undefined) return
  const { values } = await askedInputs(call, ask)
  if (
    call.acting === undefined &&
    edits.every(([port, value]) => canonicalJson(values[port] ?? null) === canonicalJson(value))
  )
    return
  await giveUpAsked(call, ask, { code: 'inputs_edited', reason: 'the person who approved it changed its inputs' })
}

/** Of a call of an agent: what who let it be made changed of its arguments. */
async function editsOfYes(call: BlockCall, { approval_id }: OpenQuestion): Promise<Readonly<Record<string, Json>>> {
  const { world, run, head, acting } = call
  const ref = head.approvals[approval_id]?.edits_ref
  if (acting === undefined) return approvedEdits(call)
  return ref === undefined ? {} : JSON.parse(Buffer.from(await world.objects.get(run.tenant, ref)).toString('utf8'))
}

/** A person wants another run in place of this one. Where that cannot be, their rejection is a failure that says so. */
async function iterateBlock(call: BlockCall, iteration: Iteration): Promise<BlockReport> {
  const why = await iterateOnReject(call, iteration)
  if (why === undefined) return reportRecorded(call)
  const { code, reason } = iteration.refusal
  return refuseBlock(call, { code, reason: `${reason} (${why})` })
}

/** Does a block's work; a fault nobody foresaw is recorded as its failure. */
export function failBlockOnFault(
  call: BlockCall,
  host: HostContext,
  work: () => Promise<BlockReport>,
): Promise<BlockReport> {
  return work().catch((error: unknown) => {
    if (leavesTheFunction(error, host)) throw error
    return failBlock(call, error)
  })
}

/** The machine's own signals, what native Retry is for, and the host's own end; all else is recorded and returned. */
function leavesTheFunction(error: unknown, host: HostContext): boolean {
  if (host.signal?.aborted === true || error instanceof MachineSignal) return true
  return error instanceof Fault && error.name === 'Unavailable'
}

/** Records what nobody foresaw: the block fails where its lane stands now, and its machine goes on. */
async function failBlock(call: BlockCall, error: unknown): Promise<BlockReport> {
  const { code, reason } = toFailure(call, error)
  const now = await readHead(call)
  if (now.head.state !== 'running' || readOrdinal(now.lane ?? 0).outcome !== undefined) return reportRecorded(now)
  return refuseBlock(now, { code, reason })
}

/**
 * Ends the run as iterated and names the run of the same pinned document that takes its place: that one is made first,
 * asleep (queued, and in no queue), and woken when this one gives back its own slot (functions/runs/lineage.ts). Whoever
 * repeats this makes the same run. Answers why not, in words; undefined = this run has ended.
 */
async function iterateOnReject(call: BlockCall, iteration: Iteration): Promise<string | undefined> {
  const { world, run, meta, block } = call
  if (meta.parent !== undefined)
    return `no run takes the place of a child: run ${meta.parent.run_id} waits for this one`
  const most = block.approval?.max_iterations ?? 5
  const root = meta.root ?? run.run_id
  const before = iterationsUpTo(await world.runs.lineage(run.tenant, root), run.run_id)
  if (before >= most) {
    return `${before === 1 ? 'one run was' : `${before} runs were`} made in place of one another before, and max_iterations is ${most}`
  }
  const next = await makeNext(call, iteration, root)
  const { code, reason } = iteration.refusal
  const words = `Block "${block.id}" was ${reason}; run ${next.run_id} takes the place of this one`
  const end = { state: 'iterated', code, reason: words, block_id: block.id, next_run: next.run_id, stop: true } as const
  await endRun(world, run, end)
  return undefined
}

/** The same run for whoever asks: its id is that of this run and the approval. */
async function makeNext(call: BlockCall, { approval_id, mode, feedback_ref }: Iteration, root: string): Promise<Meta> {
  const { world, run, meta, dag } = call
  const {
    dag_hash,
    machine,
    overrides,
    options,
    starter,
    starter_person,
    continues,
    edited,
    children,
    turn,
    priority,
  } = meta
  const run_id = runIdOfKey(run.tenant, 'iterate', `${run.run_id}|${approval_id}`)
  const iterates = { run_id: run.run_id, approval_id, mode, feedback_ref }
  const goal = await carryGoal(world, meta)
  const context = await iteratedContext(call, iterates)
  const carried = { dag, context, made: MADE_KEYS, before: { run, meta } }
  const given = await givenContext(world, carried)
  const made = await createRun(world, {
    run: { tenant: run.tenant, run_id },
    dag,
    dag_hash,
    scripts: await keptScripts(world, run.tenant, dag),
    machine,
    context,
    overrides,
    options,
    starter,
    starter_person,
    body_hash: sha256(canonicalJson(iterates)),
    iterates,
    root,
    turn,
    priority,
    subjects: meta.subjects,
    labels: currentLabels(meta, call.head),
    ...(edited === undefined ? {} : { edited }),
    ...(children === undefined ? {} : { children }),
    ...given,
    ...(continues === undefined ? {} : { continues }),
    ...(goal === undefined ? {} : { goal }),
    queued: true,
  })
  return made.meta
}

type Values = Readonly<Record<string, Json>>

/** Of all results together; what has no room is its ref. */
const PREVIOUS_BYTES = 65_536
/** Refs beyond these are left out: a context has 200 KiB. */
const MOST_REFS = 500

/**
 * What the next run of an iteration begins with: the context as this one left it, the person's words as `feedback`, and
 * to refine on, `previous`: the outputs of completed blocks, by block and port.
 */
async function iteratedContext(
  call: BlockCall,
  { feedback_ref, mode }: NonNullable<Meta['iterates']>,
): Promise<Values> {
  const { world, run, dag } = call
  const { context, earlier } = await retriedValues(world, run, { run, old: call, dag })
  const { feedback: _, previous: __, task, ...others } = context
  // A document that moves a task moves it again, from where it was found.
  const found = dag.task_gates === undefined ? task : earlier.task
  const feedback = Buffer.from(await world.objects.get(run.tenant, feedback_ref)).toString('utf8')
  return {
    ...others,
    ...(found === undefined ? {} : { task: found }),
    feedback,
    ...(mode === 'refine' ? { previous: await previousOutputs(call) } : {}),
  }
}

async function previousOutputs(call: BlockCall): Promise<Values> {
  const { world, run, dag, index } = call
  const head = (await world.runs.head(run)) ?? call.head
  const completed = dag.blocks.filter(({ id }) => blockOutcome(call, head, id) === 'completed')
  const lanes = new Map(completed.map(({ id }) => [index.get(id) ?? -1, blockOrdinal(call, head, id) ?? 0]))
  const projections = await readProjections(world, run, lanes)
  const room = { bytes: PREVIOUS_BYTES, refs: MOST_REFS }
  const previous: Record<string, Json> = {}
  for (const { id } of completed) {
    const outputs = projections.get(index.get(id) ?? -1)?.outputs ?? {}
    previous[id] = await asFits(call, outputs, room)
  }
  return previous
}

async function asFits(
  { world, run }: BlockCall,
  outputs: Readonly<Record<string, StoredValue>>,
  room: { bytes: number; refs: number },
): Promise<Values> {
  const values: Record<string, Json> = {}
  for (const [port, stored] of Object.entries(outputs)) {
    if (stored.bytes <= room.bytes) {
      room.bytes -= stored.bytes
      Object.assign(values, await readPortValues(world, run.tenant, { [port]: stored }))
    } else if (room.refs > 0) {
      room.refs -= 1
      values[port] = stored.ref
    }
  }
  return values
}
