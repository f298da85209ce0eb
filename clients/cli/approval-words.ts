import type { RunEvent } from '../../shared/runs/event.ts'
import { decidedWords, refusedWords, requestedWords } from '../../shared/runs/question-words.ts'
import { count, durationWords } from './words.ts'

/** What an event says of a question to people, `feedback` being what the decider said; undefined for other events. */
export function approvalWords(event: RunEvent, feedback?: string): string | undefined {
  switch (event.type) {
    case 'approval:requested':
      return `${requestedWords(event.data)} until ${event.data.expires_at}`
    case 'approval:decided':
      return `${decidedWords(event.data, durationWords(event.data.waited_ms))}${feedback === undefined ? '' : `: ${feedback}`}`
    case 'approval:reminded':
      return `reminded ${count(event.data.n, 'time')}: nobody decided yet`
    case 'approval:escalated':
      return `escalated: ${event.data.to.join(', ')} may decide too`
    case 'approval:refused':
      return refusedWords(event.data)
    case 'approval:expired':
      return `approval expired: ${event.data.on_timeout}`
    default:
      return undefined
  }
}
