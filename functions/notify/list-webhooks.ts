import { WEBHOOK_ROUTES } from '../../shared/api/webhook-routes.ts'
import type { Principal } from '../../shared/auth/principal.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import { httpHandler } from '../http-handler.ts'

/** A path or a query may be a secret of its own, as those of chat services are: the host alone is told. */
export const handler = httpHandler({
  name: 'list-webhooks',
  schema: WEBHOOK_ROUTES['list-webhooks'],
  run: ({ principal }, world) => ({
    json: {
      webhooks: webhooksOf(world.settings, principal).map(
        ({ name, url, events, dags, key, timeout_ms, give_up_sec }) => ({
          name,
          host: new URL(url).host,
          events,
          ...(dags === undefined ? {} : { dags }),
          keys: [key].flat().length,
          timeout_ms,
          give_up_sec,
        }),
      ),
      buses: world.settings.buses.filter((bus) => bus.tenant === principal.tenant).map(({ tenant: _, ...bus }) => bus),
    },
  }),
})

/** Of the caller's tenant. */
function webhooksOf({ webhooks }: Pick<Settings, 'webhooks'>, { tenant }: Principal): Settings['webhooks'] {
  return webhooks.filter((endpoint) => endpoint.tenant === tenant)
}
