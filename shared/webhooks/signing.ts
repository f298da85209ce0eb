import { createHmac } from 'node:crypto'
import { Fault } from '../errors.ts'
import type { KeyRef, SignedContent } from '../ports/secrets.ts'
import type { WebhookEndpoint } from './settings.ts'

/** Signs for an endpoint of the settings; its secrets stay inside. */
export interface Webhooks {
  /** The `webhook-signature` header. Faults InvalidInput webhook_key_missing, webhook_key_invalid; those of the place. */
  sign(endpoint: string, content: SignedContent): Promise<string>
}

/** The Webhooks port over the place's way to a key; `read` answers undefined where it has none of it. */
export function openWebhooks(
  endpoints: readonly WebhookEndpoint[],
  read: (key: KeyRef) => Promise<string | undefined>,
): Webhooks {
  return {
    async sign(name, content) {
      const endpoint = endpoints.find((one) => one.name === name)
      const keys = endpoint === undefined ? [] : [endpoint.key].flat()
      const secrets = await Promise.all(keys.map(async (key) => secretOf(name, await read(key))))
      if (secrets.length === 0) throw missing(name)
      return signWebhook(secrets, content)
    },
  }
}

function secretOf(name: string, text: string | undefined): Uint8Array {
  if (text === undefined || text.trim() === '') throw missing(name)
  const secret = readWebhookSecret(text)
  if (secret !== undefined) return secret
  const message = `Cannot sign for webhook "${name}": its key is no whsec_ and base64 of 24 to 64 bytes. Make one: echo "whsec_$(openssl rand -base64 32)".`
  throw new Fault('InvalidInput', 'webhook_key_invalid', message, { facts: { webhook: name } })
}

function missing(name: string): Fault {
  const message = `Cannot sign for webhook "${name}": this place has no key of it. Set the environment variable that webhooks.*.key.env names here, or name secret: ARN on AWS.`
  return new Fault('InvalidInput', 'webhook_key_missing', message, { facts: { webhook: name } })
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
