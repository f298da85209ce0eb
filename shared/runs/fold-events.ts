import type { EventType, RunEvent } from './event.ts'
import { answerApproval, decideApproval, openApproval } from './fold-approval.ts'
import { changeBlock, countTry, enterAttempt, resetBlock } from './fold-block.ts'
import type { Draft } from './fold-draft.ts'
import { endStep, outputStep, startStep } from './fold-step.ts'
import type { RunState } from './head.ts'
import type { RUN_ENDS } from './is-run-end.ts'
import type { BlockFold, ItemFold, RunFold, StepFold } from './run-fold.ts'
import { STAGE_EVENTS, type StageEvent } from './stage-events.ts'

type EventOf<T extends EventType> = Extract<RunEvent, { readonly type: T }>
type Reducers = { readonly [T in EventType]: (draft: Draft, event: EventOf<T>) => void }

/** What each event says about the run; a type that is missing here does not compile. */
export const REDUCERS: Reducers = {
  'run:started': (draft, { at, data }) => {
    draft.run = { ...draft.run, started_at: at, ...(data.queued === true ? { queued: true } : {}) }
  },
  'run:completed': (draft, event) => endRun(draft, 'completed', event),
  'run:partial': (draft, event) => endRun(draft, 'partial', event),
  'run:blocked': (draft, event) => endRun(draft, 'blocked', event),
  'run:failed': (draft, event) => endRun(draft, 'failed', event),
  'run:cancelled': (draft, event) => endRun(draft, 'cancelled', event),
  'run:iterated': (draft, event) => endRun(draft, 'iterated', event),
  'block:ready': (draft, event) => changeBlock(draft, event, { state: 'ready' }),
  'block:started': (draft, event) => {
    const block = enterAttempt(draft, event)
    changeBlock(draft, event, { ...atWork(event), started_at: block.started_at ?? event.at })
    startStep(draft, event)
  },
  'block:output': foldOutput,
  'block:gate': (draft, event) => {
    const { gates } = enterAttempt(draft, event)
    changeBlock(draft, event, { gates: withVerdict(gates, event.data) })
  },
  'block:asked': (draft, event) => {
    enterAttempt(draft, event)
    changeBlock(draft, event, { state: 'paused_approval' })
  },
  'block:resumed': (draft, event) => changeBlock(draft, event, atWork(event)),
  'block:retrying': (draft, event) => {
    const { code, reason, due_at } = event.data
    enterAttempt(draft, event)
    changeBlock(draft, event, { state: 'retrying', error: { code, reason }, due_at, ...countTry(draft, event, code) })
    endStep(draft, event, 'failed')
  },
  'block:completed': (draft, event) => {
    const { cached_from } = event.data
    const from = cached_from === undefined ? {} : { cached_from }
    changeBlock(draft, event, { state: 'completed', ended_at: event.at, ...from })
    endStep(draft, event, 'completed')
  },
  'block:failed': (draft, event) => {
    const { code, reason } = event.data
    const tries = countTry(draft, event, code)
    changeBlock(draft, event, { state: 'failed', ended_at: event.at, error: { code, reason }, ...tries })
    endStep(draft, event, 'failed')
    endItems(draft, event)
  },
  'block:skipped': (draft, event) => changeBlock(draft, event, { state: 'skipped', ended_at: event.at, ...event.data }),
  'block:rerouted': (draft, { data }) => {
    for (const id of data.reset) resetBlock(draft, id, data.epoch)
  },
  'approval:requested': openApproval,
  'approval:decided': decideApproval,
  'approval:refused': () => {},
  'approval:expired': (draft, event) =>
    answerApproval(draft, event, event.data.approval_id, { status: 'expired', decided_at: event.at }),
  'approval:reminded': ({ approvals }, { data: { approval_id, n } }) => {
    const asked = approvals.get(approval_id)
    if (asked !== undefined) approvals.set(approval_id, { ...asked, reminded: n })
  },
  'approval:escalated': ({ approvals }, { data: { approval_id, to } }) => {
    const asked = approvals.get(approval_id)
    if (asked !== undefined) approvals.set(approval_id, { ...asked, escalated_to: to })
  },
  'block:cancelled': cancelBlock,
  'research:classified': foldStage,
  'research:routed': foldStage,
  'research:executed': foldStage,
  'research:assessed': foldStage,
  'research:synthesized': foldStage,
  'goal:evaluated': (draft, { data }) => {
    draft.run = { ...draft.run, goal: data }
  },
  ...silent(['budget:reserved', 'budget:exceeded', 'research:requested', 'research:continued', 'context:patched']),
}

function foldStage(draft: Draft, { type, at, data: { n, ref } }: StageEvent): void {
  draft.run = { ...draft.run, stage: { stage: STAGE_EVENTS[type], n, at, ref } }
}

/** Events that tell of something and change no state. */
function silent<T extends EventType>(types: readonly T[]): { readonly [K in T]: () => void } {
  return Object.fromEntries(types.map((type) => [type, () => {}])) as { readonly [K in T]: () => void }
}

function atWork({ data }: EventOf<'block:started' | 'block:resumed'>): Partial<BlockFold> & Pick<BlockFold, 'state'> {
  const { child, items } = data
  return {
    state: 'running',
    ...(child === undefined ? {} : { child }),
    ...(items === undefined ? {} : { item_count: items.count }),
  }
}

/** What a person waived stands in the place of what failed; its reason tells both. */
function withVerdict(gates: BlockFold['gates'], verdict: BlockFold['gates'][number]): BlockFold['gates'] {
  const isSame = ({ gate, phase }: typeof verdict) => gate === verdict.gate && phase === verdict.phase
  const others = verdict.status === 'waived' ? gates.filter((one) => !isSame(one)) : gates
  return [...others, verdict]
}

function foldOutput(draft: Draft, event: EventOf<'block:output'>): void {
  const { outputs } = event.data
  enterAttempt(draft, event)
  changeBlock(draft, event, { outputs })
  outputStep(draft, event, outputs)
}

/** Stopped alone: its items, its attempts under way and what people were asked about it end with it. */
function cancelBlock(draft: Draft, event: EventOf<'block:cancelled'>): void {
  const { block_id = '', seq, at, data } = event
  const { code, reason } = data
  const block = draft.blocks.get(block_id)
  if (block !== undefined) draft.blocks.set(block_id, cancelItems(block))
  changeBlock(draft, event, { state: 'cancelled', ended_at: at, error: { code, reason } })
  cancelSteps(draft, { seq, at }, (step) => step.block_id === block_id)
  for (const [id, approval] of draft.approvals) {
    if (approval.block_id === block_id && approval.status === 'pending') {
      draft.approvals.set(id, { ...approval, status: 'cancelled' })
    }
  }
}

const ENDED: ReadonlySet<string> = new Set(['completed', 'failed', 'skipped', 'cancelled'])

type EndFold = Pick<RunFold, 'code' | 'reason' | 'block_id' | 'next_run' | 'final_status' | 'row'>

/** A terminal run event cancels whatever has not ended. */
function endRun(draft: Draft, state: RunState, { seq, at, data }: EventOf<(typeof RUN_ENDS)[number]>): void {
  const { spent: _, ...told } = data
  // A stored member is never undefined.
  draft.run = { ...draft.run, state, ended_at: at, ...(told as EndFold) }
  for (const [id, { due_at: _, ...block }] of draft.blocks) {
    if (!ENDED.has(block.state)) draft.blocks.set(id, { ...cancelItems(block), state: 'cancelled', ended_at: at })
  }
  cancelSteps(draft, { seq, at }, () => true)
  for (const [id, approval] of draft.approvals) {
    if (approval.status === 'pending') draft.approvals.set(id, { ...approval, status: 'cancelled' })
  }
}

/** Items that have not ended end with their block, and so do their attempts. */
function endItems(draft: Draft, event: RunEvent): void {
  const { block_id = '', seq, at } = event
  const block = draft.blocks.get(block_id)
  if (block?.items === undefined) return
  draft.blocks.set(block_id, cancelItems(block))
  for (const [i, step] of draft.steps.entries()) {
    const isOpen = step.state === 'running' && step.block_id === block_id && step.item !== undefined
    if (isOpen) draft.steps[i] = { ...step, state: 'cancelled', ended_seq: seq, ended_at: at }
  }
}

function cancelSteps(
  { steps }: Draft,
  { seq, at }: Pick<RunEvent, 'seq' | 'at'>,
  isMeant: (step: StepFold) => boolean,
): void {
  for (const [i, step] of steps.entries()) {
    if (step.state === 'running' && isMeant(step)) {
      steps[i] = { ...step, state: 'cancelled', ended_seq: seq, ended_at: at }
    }
  }
}

function cancelItems(block: BlockFold): BlockFold {
  if (block.items === undefined) return block
  const items = Object.entries(block.items).map(([i, item]): [string, ItemFold] => [
    i,
    ENDED.has(item.state) ? item : { ...item, state: 'cancelled' },
  ])
  return { ...block, items: Object.fromEntries(items) }
}
