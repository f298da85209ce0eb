import { type WebhookEndpoint, WebhookSettingsSchema } from '../../../shared/webhooks/settings.ts'

const arn = (name: string) => `arn:aws:secretsmanager:eu-central-1:111122223333:secret:sluice/${name}-AbCdEf`

export const WEBHOOK_SECRETS = [arn('webhook'), arn('webhook-old')] as const

/** An endpoint whose key is being rotated. */
export function webhookSettings(more: object = {}): WebhookEndpoint {
  const key = WEBHOOK_SECRETS.map((secret) => ({ secret }))
  const [endpoint] = WebhookSettingsSchema.parse([
    { name: 'billing', url: 'https://hooks.example.com/sluice', events: 'all', key, ...more },
  ])
  if (endpoint === undefined) throw new Error('there is none')
  return endpoint
}
