import type { Json } from '../../../shared/canonical.ts'
import type { KeyRef } from '../../../shared/key-settings.ts'
import { redactTexts } from '../../../shared/redact-secrets.ts'
import type { Slack, SlackMethod } from '../../../shared/slack/slack-port.ts'
import type { SlackSettings } from '../../../shared/slack/slack-settings.ts'
import { formProblem, verifySignature } from '../../../shared/slack/verify-signature.ts'

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
      return callSlack(method, redactTexts(args), {
        token: await readKey(token),
        api_url: `${api_url.replace(/\/+$/, '')}/`,
      })
    },
    async verify(request, now) {
      return formProblem(request) ?? verifySignature(request, await Promise.all(signing.map(readKey)), now)
    },
  }
}
