import { REJECTION_GATE } from '../../shared/dag/dag.ts'
import { Fault } from '../../shared/errors.ts'
import { earlierDecisionWords } from '../../shared/runs/approval-words.ts'
import type { Amount, RunBudget } from '../../shared/runs/budget.ts'
import { type Caps, runCaps } from '../../shared/runs/caps.ts'
import type { EventData, RunEvent } from '../../shared/runs/event.ts'
import type { Head, HeadApproval, RestartMode } from '../../shared/runs/head.ts'
import { approvalEpoch, approvalId, questionId, questionNumber } from '../../shared/runs/ids.ts'
import { hasOpenQuestion, LAST_LEG, laneOwner, readOrdinal } from '../../shared/runs/lane.ts'
import { eventPosition } from '../../shared/runs/run-fold.ts'
import { questionItem } from '../../shared/runs/turns-and-calls.ts'
import type { Json } from '../../shared/text/json.ts'
import { shortRedacted } from '../../shared/text/short-text.ts'
import { readOwnProjection } from '../record/projections.ts'
import { allEvents } from '../record/run-log.ts'
import { expireApproval } from '../runs/due-approvals.ts'
import type { Failure } from './attempt-outcome.ts'
import type { BlockCall, BlockInputs, OpenQuestion, PersonAnswer } from './block-call.ts'
import { askPerson, retryBlock } from './block-report.ts'
import { storeInputs } from './inputs.ts'

type Asked = EventData<'block:asked'>

/** Questions of one block in one epoch: further ones are not asked, the attempt fails as without. */
const MOST_ASKS = 20
/** Questions of a run, approvals among them, before blocks ask no more: HEAD keeps each (about 400 bytes), and an item has 400 KB. */
const MOST_OF_RUN = 200
const GATES_BYTES = 300
/** Until it looks again whether another question about its block is answered. */
const OTHER_QUESTION_SEC = 60

/** Questions whose yes lets the same attempt go on, with the inputs it had. */
const GOES_ON: ReadonlySet<Asked['about']> = new Set(['pre_gates', 'budget', 'call'])

/** What asks whether a call may be made; gates of the document that ask are asked about with it, else for a waiver. */
const CALL_GATES: ReadonlySet<string> = new Set(['approval', 'untrusted'])

interface Ending {
  readonly failure: Failure | undefined
  readonly leg: number
  /** What the attempt works with, if it is needed again. */
  readonly inputs: BlockInputs | undefined
}

/**
 * What a person is asked instead of an end of the attempt in failure; undefined = nothing. Gates with `on_fail: ask` ask
 * for a waiver, a call that does not fit under the run's caps asks for more where the document says so, and a step with
 * `effect: once` asks before work is done again that may have been done.
 */
export async function questionFor(call: BlockCall, ending: Ending): Promise<Asked | undefined> {
  const { failure, leg } = ending
  if (failure === undefined || leg >= LAST_LEG) return undefined
  const about = questionAbout(call, failure)
  const place = about === undefined ? undefined : await nextQuestion(call, about)
  if (about === undefined || place === undefined) return undefined
  const gates = fewGates(about === 'budget' ? [] : (failure.gates ?? []))
  const inputs = GOES_ON.has(about) ? await keptInputs(call, ending) : {}
  return { ...place, about, gates, reason: failure.reason, ...inputs }
}

/** Its id, and what a yes raises; undefined where nobody may be asked any more, or nothing may be raised. */
async function nextQuestion(
  call: BlockCall,
  about: Asked['about'],
): Promise<Pick<Asked, 'approval_id' | 'raise'> | undefined> {
  const head = await call.world.runs.head(call.run)
  const approval_id = head === undefined ? undefined : nextAsk(call, head, about)
  if (head === undefined || approval_id === undefined) return undefined
  if (about !== 'budget') return { approval_id }
  const raise = await raiseFor(call, head.budget)
  return raise === undefined ? undefined : { approval_id, raise }
}

function questionAbout(
  { dag, meter, acting }: BlockCall,
  { ask, code, gates = [] }: Failure,
): Asked['about'] | undefined {
  if (ask === 'pre_gates' && acting !== undefined && gates.some((gate) => CALL_GATES.has(gate))) return 'call'
  if (ask !== undefined) return ask
  const isOver = code === 'budget_exceeded' && meter.exceeded?.of.startsWith('run_') === true
  return isOver && dag.budget?.on_exceed === 'ask' ? 'budget' : undefined
}

/** Those of items are kept with their block. */
async function keptInputs(call: BlockCall, { inputs }: Ending): Promise<Pick<Asked, 'inputs_ref'>> {
  return call.item !== undefined || inputs === undefined ? {} : { inputs_ref: await storeInputs(call, inputs) }
}

/**
 * Items of a block wait for one answer: one that comes while another waits joins its question. A yes to something else
 * makes no lost work again: that item comes back when the question is answered.
 */
function nextAsk(call: BlockCall, head: Head, about: Asked['about']): string | undefined {
  const { run, block, item, epoch, acting } = call
  const { approvals } = head
  // A call of an agent has questions of its own.
  const own = acting === undefined ? undefined : item
  const asked = Object.entries(approvals).flatMap(([id, { block: of, status, about: what }]) => {
    const n = questionNumber(id)
    const isMine = of === block.index && approvalEpoch(id) === epoch && questionItem(id) === own
    return isMine && n !== undefined ? [{ id, n, status, about: what }] : []
  })
  const last = asked.toSorted((a, b) => a.n - b.n).at(-1)
  if (item !== undefined && last?.status === 'pending') {
    if (about === 'lost_step' && last.about !== about) throw retryBlock(call, OTHER_QUESTION_SEC)
    return last.id
  }
  const n = (last?.n ?? 0) + 1
  return n > MOST_ASKS || questionsOf(head) >= MOST_OF_RUN
    ? undefined
    : questionId(run.run_id, block.index, epoch, n, own)
}

/** Those of blocks that wait to ask among them; items of a block wait for one. */
function questionsOf({ approvals, lanes }: Head): number {
  const waiting = Object.entries(lanes).flatMap(([lane, at]) => (hasOpenQuestion(at) ? [laneOwner(lane)?.block] : []))
  const open = Object.entries(approvals).filter(
    ([id, { status }]) => status === 'pending' && questionNumber(id) !== undefined,
  )
  return Object.keys(approvals).length - open.length + new Set(waiting).size
}

/** The first names, as many as the event has room for; the verdicts tell of all. */
function fewGates(names: readonly string[]): string[] {
  let bytes = 0
  return names.filter((name) => {
    bytes += Buffer.byteLength(name)
    return bytes <= GATES_BYTES
  })
}

type Raise = NonNullable<EventData<'block:asked'>['raise']>
type Unit = keyof Amount

const UNITS: readonly Unit[] = ['tokens', 'usd_micros']

/**
 * The caps of the run with which the refused call would fit: the document's cap once more on top, or more where that is
 * not enough. undefined = nobody may raise them so far: the operator's caps hold whatever a person says, and a child run
 * works on what its parent has reserved for it.
 */
async function raiseFor(call: BlockCall, budget: RunBudget): Promise<Raise | undefined> {
  const { wanted, exceeded } = call.meter
  if (wanted === undefined) return undefined
  const bounds: Bounds = {
    document: runCaps({}, call.dag.budget),
    operator: runCaps(call.world.settings.safety),
    parent: await parentCaps(call),
  }
  const raise: { tokens?: number; usd_micros?: number } = {}
  for (const unit of UNITS) {
    const cap = budget[`cap_${unit}`]
    const needed = budget[`committed_${unit}`] + wanted[unit]
    if (cap === undefined || (needed <= cap && exceeded?.of !== `run_${unit}`)) continue
    const to = raisedTo(unit, cap, needed, bounds)
    if (to === undefined) return undefined
    raise[unit] = to
  }
  return Object.keys(raise).length === 0 ? undefined : raise
}

interface Bounds {
  readonly document: Caps
  readonly operator: Caps
  /** Of the run whose block waits for this one: it has reserved what this one may use. */
  readonly parent: Caps
}

function raisedTo(unit: Unit, cap: number, needed: number, { document, operator, parent }: Bounds): number | undefined {
  const own = document[`cap_${unit}`]
  if (own === undefined || parent[`cap_${unit}`] !== undefined) return undefined
  const to = Math.min(Math.max(cap + own, needed), operator[`cap_${unit}`] ?? Number.MAX_SAFE_INTEGER)
  return to < needed || to <= cap ? undefined : to
}

async function parentCaps({ world, run, meta }: BlockCall): Promise<Caps> {
  if (meta.parent === undefined) return {}
  const { tenant } = run
  return (await world.runs.head({ tenant, run_id: meta.parent.run_id }, []))?.budget ?? {}
}

/** What the lane of this call waits for an answer to; undefined = for nothing. */
export async function findQuestion(call: BlockCall): Promise<OpenQuestion | undefined> {
  const { lane, block } = call
  if (lane === undefined || !hasOpenQuestion(lane)) return undefined
  const projection = await readOwnProjection(call, lane)
  if (projection?.asked === undefined && (projection?.ordinal ?? 0) > lane) {
    // Who was slow since it read HEAD looks again: the machine calls once more.
    throw new Fault('Unavailable', 'ask_missing', `Block "${block.id}" has gone on since its question was looked for.`)
  }
  if (projection?.asked === undefined) {
    throw new Fault('Bug', 'ask_missing', `Lane and record of block "${block.id}" differ: nobody knows what it asked.`)
  }
  const { attempt } = readOrdinal(lane)
  return { ...projection.asked, attempt, projection, events: await attemptEvents(call, attempt) }
}

/** The events of one attempt of this block, or item, in this epoch. */
async function attemptEvents(
  { world, run, block, item, epoch }: BlockCall,
  attempt: number,
): Promise<readonly RunEvent[]> {
  const events = await allEvents(world, run)
  return events.filter((event) => {
    if (event.block_id !== block.id || event.item !== item || event.attempt !== attempt) return false
    return eventPosition(event).epoch === epoch
  })
}

/** A rejection that another run is to take the place of this one for, and what it is where that cannot be. */
export interface Iteration {
  readonly kind: 'iterate'
  readonly approval_id: string
  readonly mode: RestartMode
  readonly feedback_ref: string
  readonly refusal: { readonly code: string; readonly reason: string }
}

/** Whether a block may be dispatched as far as people are concerned. Read from HEAD, never from state input. */
type DecisionState =
  | { readonly kind: 'granted' }
  | { readonly kind: 'undecided' }
  | { readonly kind: 'refused'; readonly code: string; readonly reason: string; readonly gates?: readonly string[] }
  | Iteration

/** A block without approval is granted; an expiry the sweeper missed is recorded here. */
export async function readDecision(call: BlockCall): Promise<DecisionState> {
  const { world, run, block, head, epoch } = call
  if (block.approval === undefined) return { kind: 'granted' }
  const id = approvalId(run.run_id, block.index, epoch)
  const approval = head.approvals[id]
  if (approval === undefined) return { kind: 'undecided' }
  if (approval.status !== 'pending') return decidedState(call, id, approval)
  if (Date.parse(approval.expires_at) > world.clock.now()) return { kind: 'undecided' }
  const { on_timeout } = block.approval
  const expired = await expireApproval(world, run, { id, block: block.index, block_id: block.id, on_timeout })
  return expired === undefined ? { kind: 'undecided' } : decidedState(call, id, expired)
}

async function decidedState(call: BlockCall, id: string, approval: HeadApproval): Promise<DecisionState> {
  const { on_timeout, on_reject } = call.block.approval ?? {}
  if (approval.status === 'approved') return { kind: 'granted' }
  if (approval.status === 'expired') {
    if (on_timeout === 'approve') return { kind: 'granted' }
    const reason = `nobody decided before ${approval.expires_at} (on_timeout: ${on_timeout})`
    return { kind: 'refused', code: 'approval_expired', reason }
  }
  const { iterate: mode, feedback_ref } = approval
  const reason = `${earlierDecisionWords(approval)}${await feedbackOf(call, approval)}`
  const refusal = { code: 'approval_rejected', reason }
  if (mode !== undefined && feedback_ref !== undefined) {
    return { kind: 'iterate', approval_id: id, mode, feedback_ref, refusal }
  }
  return { kind: 'refused', ...refusal, ...(on_reject === 'route' ? { gates: [REJECTION_GATE] } : {}) }
}

/** What the person wrote, as far as a reason has room for it; the whole text lies in the object store. */
async function feedbackOf({ world, run }: BlockCall, { feedback_ref }: HeadApproval): Promise<string> {
  if (feedback_ref === undefined) return ''
  const text = Buffer.from(await world.objects.get(run.tenant, feedback_ref)).toString('utf8')
  return `: ${shortRedacted(text)}`
}

/** Read from HEAD, never from state input. Nobody has answered: AskPerson; an expiry the sweeper missed is recorded here. */
export async function requireAnswer(call: BlockCall, ask: OpenQuestion): Promise<PersonAnswer> {
  const answer = await findAnswer(call, ask)
  if (answer !== undefined) return answer
  const { approval_id } = ask
  const { world, run, block, head } = call
  const expires = head.approvals[approval_id]?.expires_at
  if (expires === undefined || Date.parse(expires) > world.clock.now()) throw askPerson(call)
  const asked = { id: approval_id, block: block.index, block_id: block.id, on_timeout: 'reject' } as const
  const expired = await expireApproval(world, run, asked)
  if (expired === undefined) throw askPerson(call)
  return answerFrom(call, ask, expired)
}

/** undefined: nobody has answered yet, or nobody was asked. */
async function findAnswer(call: BlockCall, ask: OpenQuestion): Promise<PersonAnswer | undefined> {
  const approval = call.head.approvals[ask.approval_id]
  return approval === undefined || approval.status === 'pending' ? undefined : answerFrom(call, ask, approval)
}

async function answerFrom(
  call: BlockCall,
  { approval_id }: OpenQuestion,
  approval: HeadApproval,
): Promise<PersonAnswer> {
  if (approval.status === 'expired') {
    return { kind: 'no', code: 'ask_expired', reason: `nobody answered before ${approval.expires_at}` }
  }
  const words = await wordsOf(call, approval)
  if (approval.status === 'approved') return { kind: 'yes', approval_id, approval, words }
  const told = words === '' ? '' : `: ${words}`
  const code = approval.stop === true ? 'agent_stopped' : 'ask_rejected'
  return { kind: 'no', code, reason: shortRedacted(`${earlierDecisionWords(approval)}${told}`) }
}

/** What the person wrote, as far as a reason has room for it; the whole text lies in the object store. */
async function wordsOf({ world, run }: BlockCall, { feedback_ref }: HeadApproval): Promise<string> {
  if (feedback_ref === undefined) return ''
  return shortRedacted(Buffer.from(await world.objects.get(run.tenant, feedback_ref)).toString('utf8'))
}

/** What a person answered to a question an agent asked them: the fields they filled, and their words. */
export async function questionAnswer(call: BlockCall): Promise<Readonly<Record<string, Json>>> {
  const { world, run, head, block, item, epoch } = call
  const answered = Object.entries(head.approvals).find(([id, { block: of, status }]) => {
    return of === block.index && status === 'approved' && questionItem(id) === item && approvalEpoch(id) === epoch
  })
  if (answered === undefined) return {}
  const [, approval] = answered
  const { edits_ref: ref } = approval
  const words = await wordsOf(call, approval)
  const filled: Readonly<Record<string, Json>> =
    ref === undefined ? {} : JSON.parse(Buffer.from(await world.objects.get(run.tenant, ref)).toString('utf8'))
  const said = words === '' || Object.hasOwn(filled, 'answer') ? {} : { answer: words }
  return { answer: { ...filled, ...said } }
}

/**
 * The call as it goes on where a person said yes in the middle of its attempt; the same one where nobody was asked.
 * undefined: the block state has to end the attempt, or to wait, first.
 */
export async function resumeIfAnsweredYes(call: BlockCall): Promise<BlockCall | undefined> {
  const ask = await findQuestion(call)
  if (ask === undefined) return call
  const yes = await findAnswer(call, ask)
  const isDone = !GOES_ON.has(ask.about) || ask.events.some(({ type }) => type === 'block:output')
  return yes?.kind !== 'yes' || isDone ? undefined : { ...call, resumed: { ask, yes } }
}
