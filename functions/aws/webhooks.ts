import { openWebhooks } from '../../shared/webhooks/open-webhooks.ts'
import type { Webhooks } from '../../shared/webhooks/webhooks-port.ts'
import type { Core } from './world.ts'

/** The Webhooks port: keys are secrets of Systems Manager or Secrets Manager. */
export function openWebhookKeys({ settings, secrets }: Pick<Core, 'settings' | 'secrets'>): Webhooks {
  return openWebhooks(settings.webhooks, async ({ secret }) =>
    secret === undefined ? undefined : secrets?.read({ secret }),
  )
}
