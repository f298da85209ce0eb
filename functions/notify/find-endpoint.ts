import { Fault } from '../../shared/errors.ts'
import type { Settings } from '../../shared/settings.ts'
import type { WebhookEndpoint } from '../../shared/webhooks/webhook-settings.ts'

/** An endpoint of the tenant by name. Fault NotFound unknown_webhook names those it has: of another's nobody is told. */
export function findEndpoint({ webhooks }: Pick<Settings, 'webhooks'>, tenant: string, name: string): WebhookEndpoint {
  const own = webhooks.filter((endpoint) => endpoint.tenant === tenant)
  const found = own.find((endpoint) => endpoint.name === name)
  if (found !== undefined) return found
  const names = own.map((endpoint) => endpoint.name).join(', ')
  const there = names === '' ? 'there is none' : `there are: ${names}`
  const message = `Cannot find webhook "${name}": sluice.yaml of this place names none so; ${there}. Add it to webhooks in sluice.yaml.`
  throw new Fault('NotFound', 'unknown_webhook', message)
}
