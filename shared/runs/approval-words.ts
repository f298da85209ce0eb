import { viaWords } from '../auth/principal.ts'
import type { EventData } from './event.ts'
import type { HeadApproval } from './head.ts'

/** The decision somebody made before, in words. */
export function earlierDecisionWords({ status, decided_by, decided_at, via, declared }: HeadApproval): string {
  const by = decided_by === undefined ? '' : ` by ${decided_by}`
  const at = decided_at === undefined ? '' : ` at ${decided_at}`
  return `${status}${by}${at}${via === undefined ? '' : ` ${viaWords(via, declared)}`}`
}

/** What a question waits for, and of how many where one is not enough: `waits for approval of 2 people`. */
export function approvalRequestWords({ about = 'dispatch', quorum }: EventData<'approval:requested'>): string {
  return quorum > 1 ? `${ASKS[about]} of ${quorum} people` : ASKS[about]
}

const ASKS = {
  dispatch: 'waits for approval',
  pre_gates: 'gates before it failed: waits for a waiver',
  post_gates: 'gates after it failed: waits for a waiver',
  budget: 'the budget is used up: waits for approval of more',
  lost_step: 'its work was lost in the middle: waits for approval to do it again',
  call: 'wants to call a tool: waits for approval',
} as const

/** What was decided, by whom, how, and after how long (`took`, in words). */
export function decisionWords(data: EventData<'approval:decided'>, took: string): string {
  const { decision, by, person, via, declared, have, need, edits_hash, iterate } = data
  const votes = need > 1 ? ` (${have} of ${need})` : ''
  const edited = edits_hash === undefined ? '' : ', inputs changed'
  const who = person === undefined ? '' : ` (${person})`
  const again = iterate === undefined ? '' : `, another run goes on (${iterate})`
  return `${DONE[decision]}${votes} by ${by.kind}:${by.id}${who} ${viaWords(via, declared)} after ${took}${edited}${again}`
}

/** A word that did not count, whose, and why not. */
export function refusedDecisionWords({
  decision,
  by,
  person,
  via,
  declared,
  reason,
}: EventData<'approval:refused'>): string {
  const who = person === undefined ? '' : ` (${person})`
  return `refused to ${decision} for ${by.kind}:${by.id}${who} ${viaWords(via, declared)}: ${reason}`
}

const DONE = { approve: 'approved', reject: 'rejected', waive: 'waived' } as const
