import type { EventType, RunEvent } from './event.ts'
import { answerApproval, openApproval } from './fold-approval.ts'
import { changeBlock, enterAttempt } from './fold-block.ts'
import type { Draft } from './fold-draft.ts'
import { endStep, outputStep, startStep } from './fold-step.ts'
import type { RunState } from './run-store.ts'

type EventOf<T extends EventType> = Extract<RunEvent, { readonly type: T }>
type Reducers = { readonly [T in EventType]: (draft: Draft, event: EventOf<T>) => void }

/** What each event says about the run; a type that is missing here does not compile. */
export const REDUCERS: Reducers = {
  'run:started': (draft, { at }) => {
    draft.run = { ...draft.run, started_at: at }
  },
  'run:completed': (draft, event) => endRun(draft, 'completed', event),
  'run:failed': (draft, event) => endRun(draft, 'failed', event),
  'run:cancelled': (draft, event) => endRun(draft, 'cancelled', event),
  'block:ready': (draft, event) => changeBlock(draft, event, { state: 'ready' }),
  'block:started': (draft, event) => {
    const block = enterAttempt(draft, event)
    changeBlock(draft, event, { state: 'running', started_at: block.started_at ?? event.at })
    startStep(draft, event)
  },
  'block:output': foldOutput,
  'block:gate': (draft, event) => {
    const { gates } = enterAttempt(draft, event)
    changeBlock(draft, event, { gates: [...gates, event.data] })
  },
  'block:retrying': (draft, event) => {
    const { code, reason, due_at } = event.data
    enterAttempt(draft, event)
    changeBlock(draft, event, { state: 'retrying', error: { code, reason }, due_at })
    endStep(draft, event, 'failed')
  },
  'block:completed': (draft, event) => {
    changeBlock(draft, event, { state: 'completed', ended_at: event.at })
    endStep(draft, event, 'completed')
  },
  'block:failed': (draft, event) => {
    const { code, reason } = event.data
    changeBlock(draft, event, { state: 'failed', ended_at: event.at, error: { code, reason } })
    endStep(draft, event, 'failed')
  },
  'block:skipped': (draft, event) =>
    changeBlock(draft, event, { state: 'skipped', ended_at: event.at, because: event.data.because }),
  'approval:requested': openApproval,
  'approval:decided': (draft, event) => {
    const { data, at } = event
    if (data.decision === 'approve' && data.have < data.need) return
    const { via, waited_ms, by, feedback_ref } = data
    const feedback = feedback_ref === undefined ? {} : { feedback_ref }
    const decided = { decided_by: `${by.kind}:${by.id}`, decided_at: at, via, waited_ms, ...feedback }
    const status = data.decision === 'approve' ? 'approved' : 'rejected'
    answerApproval(draft, event, data.approval_id, { status, ...decided })
  },
  'approval:expired': (draft, event) =>
    answerApproval(draft, event, event.data.approval_id, { status: 'expired', decided_at: event.at }),
  'context:patched': () => {},
}

function foldOutput(draft: Draft, event: EventOf<'block:output'>): void {
  const { outputs, tokens_in, tokens_out, usd_micros } = event.data
  const block = enterAttempt(draft, event)
  changeBlock(draft, event, {
    outputs,
    tokens_in: block.tokens_in + tokens_in,
    tokens_out: block.tokens_out + tokens_out,
    ...(usd_micros === undefined ? {} : { usd_micros: (block.usd_micros ?? 0) + usd_micros }),
  })
  outputStep(draft, event, outputs)
  draft.run = {
    ...draft.run,
    tokens: draft.run.tokens + tokens_in + tokens_out,
    ...(usd_micros === undefined ? {} : { usd_micros: (draft.run.usd_micros ?? 0) + usd_micros }),
  }
}

const ENDED: ReadonlySet<string> = new Set(['completed', 'failed', 'skipped', 'cancelled'])

/** A terminal run event cancels whatever has not ended (decisions, "Events"). */
function endRun(
  draft: Draft,
  state: RunState,
  { seq, at, data }: EventOf<'run:completed' | 'run:failed' | 'run:cancelled'>,
): void {
  const { code, reason, block_id } = data
  draft.run = { ...draft.run, state, ended_at: at, code, reason, ...(block_id === undefined ? {} : { block_id }) }
  for (const [id, { due_at: _, ...block }] of draft.blocks) {
    if (!ENDED.has(block.state)) draft.blocks.set(id, { ...block, state: 'cancelled', ended_at: at })
  }
  for (const [i, step] of draft.steps.entries()) {
    if (step.state === 'running') draft.steps[i] = { ...step, state: 'cancelled', ended_seq: seq, ended_at: at }
  }
  for (const [id, approval] of draft.approvals) {
    if (approval.status === 'pending') draft.approvals.set(id, { ...approval, status: 'cancelled' })
  }
}
