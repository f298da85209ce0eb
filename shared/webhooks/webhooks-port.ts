import type { RunKey } from '../runs/run-store.ts'
import type { SignedContent } from './sign-webhook.ts'

/** Work for send-webhooks: what one endpoint is owed of one run. */
export interface WebhookWork {
  readonly run: RunKey
  readonly endpoint: string
}

/** Signs for an endpoint of the settings; its secrets stay inside. */
export interface Webhooks {
  /** The `webhook-signature` header. Faults InvalidInput webhook_key_missing, webhook_key_invalid; those of the place. */
  sign(endpoint: string, content: SignedContent): Promise<string>
}
