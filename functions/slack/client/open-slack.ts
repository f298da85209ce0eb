import { Fault } from '../../../shared/errors.ts'
import type { KeyRef } from '../../../shared/ports/secrets.ts'
import type { SlackSettings } from '../../../shared/slack/settings.ts'
import { signatureFormProblem, verifySignature } from '../../../shared/slack/signature.ts'
import type { Slack, SlackMethod } from '../../../shared/slack/slack-port.ts'
import type { Json } from '../../../shared/text/json.ts'
import { redactSecretsIn } from '../../../shared/text/redact.ts'

/** One call of the Web API with this token; Faults as the port has them. */
export type CallSlack = (
  method: SlackMethod,
  args: Readonly<Record<string, Json>>,
  to: { readonly token: string; readonly api_url: string },
) => Promise<Readonly<Record<string, Json>>>

/** Slack's longest wait for an answer of ours is 3 s: a call within it must be over sooner. */
export const SLACK_TIMEOUT_MS = 1_500

/** The Slack port of a place: where its secrets are and how a call is made are the place's. */
export function openSlack(
  { token, signing_secret, api_url }: SlackSettings,
  readKey: (ref: KeyRef) => Promise<string>,
  callSlack: CallSlack,
): Slack {
  const signing = Array.isArray(signing_secret) ? signing_secret : [signing_secret]
  return {
    async call(method, args) {
      // A channel has readers of its own: prompts and values are told there without what looks like a secret.
      return callSlack(method, redactSecretsIn(args), {
        token: await readKey(token),
        api_url: `${api_url.replace(/\/+$/, '')}/`,
      })
    },
    async verify(request, now) {
      return signatureFormProblem(request) ?? verifySignature(request, await Promise.all(signing.map(readKey)), now)
    },
  }
}

/** What went wrong of one call: Slack's own word, an HTTP status, or nothing that answered. */
interface SlackTrouble {
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
