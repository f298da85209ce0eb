import { agentItemWords, questionItem } from '../../../shared/runs/turns-and-calls.ts'
import type { operations } from '../../api/schema.generated.ts'

export type InboxPage = operations['list-approvals']['responses'][200]['content']['application/json']
export type Approval = InboxPage['approvals'][number]
type Decision = operations['decide-approval']['requestBody']['content']['application/json']

/** `approve` is called `waive` where failed gates are asked about. */
export type Answer = 'approve' | 'waive' | 'reject'

/** What a dialog was filled with. */
export interface Draft {
  readonly answer: Answer
  readonly feedback: string
  /** Inputs the approver changed, typed. */
  readonly edits: Readonly<Record<string, unknown>>
  /** With reject, where a rejection makes another run: undefined = it shall not. */
  readonly restart: 'refine' | 'from_scratch' | undefined
  /** Of an agent's call: with approve, nobody is asked before later calls of its tool. */
  readonly allowRest?: boolean
  /** Of an agent's call: with reject, the agent does nothing more. */
  readonly stop?: boolean
}

/** What is asked about: a block, or a call an agent wants to make, or a form it wants to be filled. */
export function subjectOf({ about, tool }: Pick<Approval, 'about' | 'tool'>): 'block' | 'call' | 'form' {
  if (about !== 'call') return 'block'
  return tool === 'ask_person' ? 'form' : 'call'
}

/** `send`, `call 2 of turn 3 (crm.refund) of solve`. */
export function whatIsAsked({
  approval_id,
  block_id,
  tool,
}: Pick<Approval, 'approval_id' | 'block_id' | 'tool'>): string {
  const item = questionItem(approval_id)
  return item === undefined ? block_id : `${agentItemWords(item, tool)} of ${block_id}`
}

/** The yes this question takes. */
export function yesAnswer({ about }: Pick<Approval, 'about'>): 'approve' | 'waive' {
  return about === 'pre_gates' || about === 'post_gates' ? 'waive' : 'approve'
}

/** A rejection tells whoever goes on what is wrong, and a waiver is recorded with its reason. */
export function needsFeedback(answer: Answer): boolean {
  return answer !== 'approve'
}

/** The request of a decision on exactly what was shown. */
export function decisionBody(approval: Pick<Approval, 'approval_id' | 'digest' | 'on_reject'>, draft: Draft): Decision {
  const { answer, edits, restart, allowRest, stop } = draft
  const feedback = draft.feedback.trim()
  const isEdited = answer === 'approve' && Object.keys(edits).length > 0
  return {
    approval_id: approval.approval_id,
    decision: answer,
    digest: approval.digest,
    ...(feedback === '' ? {} : { feedback }),
    ...(isEdited ? { edits: { ...edits } } : {}),
    ...(answer === 'approve' && allowRest === true ? { allow_rest: true } : {}),
    ...(answer === 'reject' && stop === true ? { stop: true } : {}),
    ...(answer === 'reject' && approval.on_reject === 'iterate' ? iteration(restart) : {}),
  }
}

function iteration(restart: Draft['restart']): Pick<Decision, 'iterate' | 'restart_mode'> {
  return restart === undefined ? { iterate: false } : { iterate: true, restart_mode: restart }
}

/** What is other than it was when the reader saw it: names of shown values, and words for the rest. */
export function changedSince(seen: Approval, now: Approval): readonly string[] {
  const names = [...new Set([...Object.keys(seen.shown_refs), ...Object.keys(now.shown_refs)])]
  const values = names.filter((name) => seen.shown_refs[name]?.sha256 !== now.shown_refs[name]?.sha256)
  const prompt = seen.prompt === now.prompt ? [] : ['the prompt']
  const all = [...values, ...prompt]
  // The digest is of values, prompt, the block as it is defined, and what a yes lets happen behind it.
  return all.length === 0 && seen.digest !== now.digest ? ["the block's definition or what a yes lets happen"] : all
}

/** The one to decide after this one: below it, else above it; undefined = nothing is left. */
export function nextPending(pending: readonly Pick<Approval, 'approval_id'>[], decided: string): string | undefined {
  const at = pending.findIndex(({ approval_id }) => approval_id === decided)
  const next = pending[at + 1] ?? (at > 0 ? pending[at - 1] : pending.find((one) => one.approval_id !== decided))
  return next?.approval_id
}
