import type { RunEvent } from '../../shared/runs/event.ts'
import { count, durationWords } from './words.ts'

/** What an event says of a question to people, `feedback` being what the decider said; undefined for other events. */
export function approvalWords(event: RunEvent, feedback?: string): string | undefined {
  switch (event.type) {
    case 'approval:requested':
      return requestWords(event.data)
    case 'approval:decided':
      return `${decisionWords(event.data)}${feedback === undefined ? '' : `: ${feedback}`}`
    case 'approval:reminded':
      return `reminded ${count(event.data.n, 'time')}: nobody decided yet`
    case 'approval:escalated':
      return `escalated: ${event.data.to.join(', ')} may decide too`
    case 'approval:expired':
      return `approval expired: ${event.data.on_timeout}`
    default:
      return undefined
  }
}

type DataOf<T extends RunEvent['type']> = Extract<RunEvent, { type: T }>['data']

function requestWords({ about = 'dispatch', expires_at, quorum }: DataOf<'approval:requested'>): string {
  const votes = quorum > 1 ? ` of ${count(quorum, 'person').replace('persons', 'people')}` : ''
  return `${ASKS[about]}${votes} until ${expires_at}`
}

const ASKS = {
  dispatch: 'waits for approval',
  pre_gates: 'gates before it failed: waits for a waiver',
  post_gates: 'gates after it failed: waits for a waiver',
  budget: 'the budget is used up: waits for approval of more',
} as const

function decisionWords(data: DataOf<'approval:decided'>): string {
  const { decision, by, via, waited_ms, have, need, edits_hash, iterate } = data
  const votes = need > 1 ? ` (${have} of ${need})` : ''
  const edited = edits_hash === undefined ? '' : ', inputs changed'
  const again = iterate === undefined ? '' : `, another run goes on (${iterate})`
  return `${DONE[decision]}${votes} by ${by.kind}:${by.id} via ${via} after ${durationWords(waited_ms)}${edited}${again}`
}

const DONE = { approve: 'approved', reject: 'rejected', waive: 'waived' } as const
