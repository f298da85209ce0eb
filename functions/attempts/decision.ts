import { type Block, type GateUse, REJECTION_GATE } from '../../shared/dag/dag.ts'
import { composeVerdicts } from '../../shared/gates/compose.ts'
import type { Verdict } from '../../shared/gates/gate.ts'
import { earlierDecisionWords } from '../../shared/runs/approval.ts'
import type { EventData, NewEvent } from '../../shared/runs/event.ts'
import type { HeadApproval, RestartMode } from '../../shared/runs/head.ts'
import { approvalId } from '../../shared/runs/ids.ts'
import { shortText } from '../../shared/text/short-text.ts'
import { expireApproval } from '../runs/due-approvals.ts'
import { type Answer, askPerson, type BlockCall, eventBase, type OpenQuestion } from './block-call.ts'
import { findQuestion } from './question.ts'

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
  return `: ${shortText(text)}`
}

/** Read from HEAD, never from state input. Nobody has answered: AskPerson; an expiry the sweeper missed is recorded here. */
export async function requireAnswer(call: BlockCall, ask: OpenQuestion): Promise<Answer> {
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
async function findAnswer(call: BlockCall, ask: OpenQuestion): Promise<Answer | undefined> {
  const approval = call.head.approvals[ask.approval_id]
  return approval === undefined || approval.status === 'pending' ? undefined : answerFrom(call, ask, approval)
}

async function answerFrom(call: BlockCall, { approval_id }: OpenQuestion, approval: HeadApproval): Promise<Answer> {
  if (approval.status === 'expired') {
    return { kind: 'no', code: 'ask_expired', reason: `nobody answered before ${approval.expires_at}` }
  }
  const words = await wordsOf(call, approval)
  if (approval.status === 'approved') return { kind: 'yes', approval_id, approval, words }
  const told = words === '' ? '' : `: ${words}`
  return { kind: 'no', code: 'ask_rejected', reason: shortText(`${earlierDecisionWords(approval)}${told}`) }
}

/** What the person wrote, as far as a reason has room for it; the whole text lies in the object store. */
async function wordsOf({ world, run }: BlockCall, { feedback_ref }: HeadApproval): Promise<string> {
  if (feedback_ref === undefined) return ''
  return shortText(Buffer.from(await world.objects.get(run.tenant, feedback_ref)).toString('utf8'))
}

/**
 * The call as it goes on where a person said yes in the middle of its attempt; the same one where nobody was asked.
 * undefined: the block state has to end the attempt, or to wait, first.
 */
export async function resumedCall(call: BlockCall): Promise<BlockCall | undefined> {
  const ask = await findQuestion(call)
  if (ask === undefined) return call
  const yes = await findAnswer(call, ask)
  const isDone = ask.about === 'post_gates' || ask.events.some(({ type }) => type === 'block:output')
  return yes?.kind !== 'yes' || isDone ? undefined : { ...call, resumed: { ask, yes } }
}

type Yes = Extract<Answer, { kind: 'yes' }>
type Phase = 'pre' | 'post'

/** Characters of the reason: it tells who waived and what had failed. */
const MOST = 400
const WORDS = 150

/** One verdict `waived` for each gate that was asked about and has none yet: a repeat adds what a crash left out. */
export function waiveGates(call: BlockCall, phase: Phase, ask: OpenQuestion, yes: Yes): readonly NewEvent[] {
  const { block } = call
  const uses: readonly GateUse[] = phase === 'pre' ? block.pre_gates : block.post_gates
  const composition = block.gate_composition[phase]
  const failed = new Set(composeVerdicts(uses, verdictsSoFar(ask.events, phase), composition).failed)
  return gatesSoFar(ask.events, phase)
    .filter(({ gate }) => failed.has(gate))
    .map((verdict) => waivedEvent(call, ask.attempt, verdict, yes))
}

function waivedEvent(call: BlockCall, attempt: number, verdict: EventData<'block:gate'>, yes: Yes): NewEvent {
  const { approval_id, approval, words } = yes
  const { decided_by: by = '', via = '', feedback_ref: reason_ref } = approval
  const why = words === '' ? '' : ` ("${shortText(words, WORDS)}")`
  const facts = { by, via, approval_id, ...(reason_ref === undefined ? {} : { reason_ref }) }
  const reason = shortText(`waived by ${by}${why}; it had ${verdict.status}: ${verdict.reason}`, MOST)
  return { type: 'block:gate', ...eventBase(call), attempt, data: waivedVerdict(verdict, reason, facts) }
}

/** The verdict as a person let it pass: of the same values, at no cost. */
export function waivedVerdict(
  { gate, type, phase, input_hash }: EventData<'block:gate'>,
  reason: string,
  facts: unknown,
): EventData<'block:gate'> {
  return { gate, type, phase, status: 'waived', reason, input_hash, facts, duration_ms: 0 }
}

/** The gates a person was asked about, with why they do not hold; of a question about the budget none. */
export function failedGates(
  { pre_gates, post_gates }: Pick<Block, 'pre_gates' | 'post_gates'>,
  { about, events }: Pick<OpenQuestion, 'about' | 'events'>,
): readonly { readonly name: string; readonly reason: string }[] {
  if (about === 'budget') return []
  const [phase, uses] = about === 'pre_gates' ? (['pre', pre_gates] as const) : (['post', post_gates] as const)
  const counted = new Set(uses.flatMap(({ name, on_fail }) => (on_fail === 'warn' ? [] : [name])))
  return gatesSoFar(events, phase).flatMap(({ gate: name, status, reason }) => {
    return (status === 'failed' || status === 'error') && counted.has(name) ? [{ name, reason }] : []
  })
}

type GatePhase = 'pre' | 'post'

/** The verdicts an attempt has of one phase: of each gate the last one, in the order they were first given. */
export function verdictsSoFar(events: readonly NewEvent[], phase: GatePhase): readonly Verdict[] {
  return gatesSoFar(events, phase).map(asVerdict)
}

/** The same as the events tell them. */
function gatesSoFar(events: readonly NewEvent[], phase: GatePhase): readonly EventData<'block:gate'>[] {
  const last = new Map<string, EventData<'block:gate'>>()
  for (const event of events) {
    if (event.type === 'block:gate' && event.data.phase === phase) last.set(event.data.gate, event.data)
  }
  return [...last.values()]
}

function asVerdict({ gate, type, status, reason, duration_ms, input_hash }: EventData<'block:gate'>): Verdict {
  return { name: gate, type, passed: status === 'passed', status, reason, facts: {}, duration_ms, input_hash }
}
