import { Fault } from '../errors.ts'
import type { KeyRef } from '../key-settings.ts'
import { readWebhookSecret, signWebhook } from './sign-webhook.ts'
import type { WebhookEndpoint } from './webhook-settings.ts'
import type { Webhooks } from './webhooks-port.ts'

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
