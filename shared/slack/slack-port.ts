import type { RunKey } from '../runs/run-store.ts'
import type { Json } from '../text/json.ts'
import type { SlackClick } from './interaction.ts'
import type { SignatureVerdict, SignedRequest } from './signature.ts'

/** Methods of Slack's Web API that Sluice uses; the app's scopes (app-manifest.ts) are made for exactly these. */
export type SlackMethod =
  | 'auth.test'
  | 'chat.postMessage'
  | 'chat.update'
  | 'chat.delete'
  | 'chat.postEphemeral'
  | 'views.open'

/** Slack as handlers see it: nobody else knows the token or the signing secrets. Absent = Slack is not configured. */
export interface Slack {
  /**
   * Fault Unavailable slack_unavailable (429, 5xx, network, no answer within 1.5 s; `facts.retry_after_ms` where Slack
   * says it), or Rejected `slack_<error>` with Slack's own word for what is wrong (`facts.error`).
   */
  call(method: SlackMethod, args: Readonly<Record<string, Json>>): Promise<Readonly<Record<string, Json>>>
  /** Whether Slack signed these bytes with a secret of the settings, at about `now` (ms since 1970). */
  verify(request: SignedRequest, now: number): Promise<SignatureVerdict>
}

/** What slack-work is called for: a person's click that was acknowledged, a run that owes notes to Slack, a message of a run that is erased. */
export type SlackWork =
  | { readonly click: SlackClick; readonly tenant: string }
  | { readonly run: RunKey; readonly entry: string }
  | { readonly erased: { readonly channel: string; readonly ts: string } }
