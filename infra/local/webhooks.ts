import type { Settings } from '../../shared/settings.ts'
import { openWebhooks } from '../../shared/webhooks/open-webhooks.ts'
import type { Webhooks } from '../../shared/webhooks/webhooks-port.ts'

/** The Webhooks port of this place: keys by environment variable. */
export function createWebhooks({ webhooks }: Settings, held: ReadonlyMap<string, string>): Webhooks {
  return openWebhooks(webhooks, async ({ env }) => (env === undefined ? undefined : held.get(env)))
}

/** The environment variables that hold their keys. */
export function webhookKeyNames({ webhooks }: Settings): readonly string[] {
  return webhooks.flatMap(({ key }) => [key].flat().flatMap(({ env }) => env ?? []))
}

/** One sentence for each webhook with a key that is not there. */
export function missingWebhookKeys({ webhooks }: Settings, held: ReadonlyMap<string, string>): readonly string[] {
  return webhooks.flatMap(({ name, key }) =>
    [key].flat().flatMap(({ env }) => {
      if (env === undefined)
        return [`webhook "${name}" is not told: its key is only where AWS keeps it. Add env: NAME.`]
      if ((held.get(env) ?? '').trim() !== '') return []
      return [
        `webhook "${name}" is not told: environment variable ${env} is not set. Set it and start the place again.`,
      ]
    }),
  )
}
