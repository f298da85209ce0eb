import { createHmac } from 'node:crypto'

/** What a signature is over: nothing of it may change on the way. */
export interface SignedContent {
  readonly id: string
  /** Unix time of this sending, in whole seconds. */
  readonly timestamp: number
  /** The body. */
  readonly text: string
}

/**
 * The `webhook-signature` header of Standard Webhooks (standardwebhooks.com, "Signature scheme"): HMAC-SHA256 over
 * `id.timestamp.body`, one `v1,<base64>` for each secret, with a space between, so that a receiver may hold either.
 */
export function signWebhook(secrets: readonly Uint8Array[], { id, timestamp, text }: SignedContent): string {
  const content = `${id}.${timestamp}.${text}`
  return secrets.map((secret) => `v1,${createHmac('sha256', secret).update(content).digest('base64')}`).join(' ')
}

/** The bytes of `whsec_<base64 of 24 to 64 bytes>`; undefined where a text is no such secret. */
export function readWebhookSecret(text: string): Uint8Array | undefined {
  const [, base64 = ''] = /^whsec_([A-Za-z0-9+/]{32,86}={0,2})$/.exec(text.trim()) ?? []
  const bytes = Buffer.from(base64, 'base64')
  const isWhole = bytes.toString('base64').replace(/=+$/, '') === base64.replace(/=+$/, '')
  return isWhole && bytes.byteLength >= LEAST_BYTES && bytes.byteLength <= MOST_BYTES ? bytes : undefined
}

/** Of the specification. */
const LEAST_BYTES = 24
const MOST_BYTES = 64
