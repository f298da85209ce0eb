import { Fault } from '../../../shared/errors.ts'

/** What went wrong of one call: Slack's own word, an HTTP status, or nothing that answered. */
export interface SlackTrouble {
  readonly error?: string | undefined
  readonly status?: number | undefined
  readonly retry_after_sec?: number | undefined
  readonly cause?: unknown
}

/** A call of the Web API that failed, as one of ours (shared/slack/slack-port.ts says which). */
export function slackFault(method: string, { error, status, retry_after_sec, cause }: SlackTrouble): Fault {
  if (error === undefined || PASSING.has(error) || status === 429) {
    const seen = error ?? (status === undefined ? 'no answer' : `HTTP ${status}`)
    const facts = { method, ...(retry_after_sec === undefined ? {} : { retry_after_ms: retry_after_sec * 1_000 }) }
    const message = `Cannot call Slack's ${method}: ${seen}. It is tried again.`
    return new Fault('Unavailable', 'slack_unavailable', message, { facts, cause })
  }
  // Slack's words are of this form; another text could hold anything.
  const word = /^[a-z_]{1,60}$/.test(error) ? error : 'refused'
  const message = `Cannot call Slack's ${method}: Slack answered "${word}". \`sluice doctor\` checks token, scopes and channel.`
  return new Fault('Rejected', `slack_${word}`, message, { facts: { method, error: word }, cause })
}

/** Slack's own troubles, over by themselves. */
const PASSING = new Set([
  'fatal_error',
  'internal_error',
  'ratelimited',
  'rate_limited',
  'request_timeout',
  'service_unavailable',
])
