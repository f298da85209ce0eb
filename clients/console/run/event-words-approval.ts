import type { RunEvent } from '../../../shared/runs/event.ts'
import { decidedWords, refusedWords, requestedWords } from '../../../shared/runs/question-words.ts'
import { durationWords, momentWords } from '../parts/time-words.ts'

type ApprovalEvent = Extract<RunEvent, { readonly type: `approval:${string}` }>
type DataOf<T extends ApprovalEvent['type']> = Extract<ApprovalEvent, { readonly type: T }>['data']

/** What an event says of a question to people. */
export function approvalEventWords(event: ApprovalEvent): string {
  switch (event.type) {
    case 'approval:requested':
      return requestWords(event.data)
    case 'approval:decided':
      return decidedWords(event.data, durationWords(event.data.waited_ms))
    case 'approval:reminded':
      return `reminder ${event.data.n}: nobody decided yet`
    case 'approval:escalated':
      return `escalated: ${event.data.to.join(', ')} may decide too`
    case 'approval:refused':
      return refusedWords(event.data)
    case 'approval:expired':
      return `nobody decided in time: ${EXPIRED[event.data.on_timeout]}`
  }
}

const EXPIRED = { reject: 'counts as a no', fail: 'the block fails', approve: 'counts as a yes' } as const

function requestWords(data: DataOf<'approval:requested'>): string {
  const { expires_at, approvers } = data
  const who = approvers.length === 0 ? '' : ` (${approvers.join(', ')})`
  return `${requestedWords(data)}${who} until ${momentWords(expires_at)}`
}
