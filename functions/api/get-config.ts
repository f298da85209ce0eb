import { PLACE_ROUTES } from '../../shared/api/place-routes.ts'
import type { Settings } from '../../shared/settings.ts'
import { httpHandler } from '../http-handler.ts'

/** Keys are references ({env} or {secret}), so only a URL can hold a secret. */
export const handler = httpHandler({
  name: 'get-config',
  schema: PLACE_ROUTES['get-config'],
  run: (_call, world) => ({
    json: { config: withoutSecrets(world.settings), documents: [...world.documents.names()] },
  }),
})

function withoutSecrets(settings: Settings): Settings {
  const providers = Object.entries(settings.providers).map(([name, provider]) => [
    name,
    {
      ...provider,
      ...('url' in provider ? { url: withoutCredentials(provider.url) } : {}),
      ...('endpoint' in provider && provider.endpoint !== undefined
        ? { endpoint: withoutCredentials(provider.endpoint) }
        : {}),
    },
  ])
  const { webhook, ...research } = settings.research
  return {
    ...settings,
    providers: Object.fromEntries(providers),
    research: webhook === undefined ? research : { ...research, webhook: withoutCredentials(webhook) },
  }
}

function withoutCredentials(address: string): string {
  const url = new URL(address)
  url.username = ''
  url.password = ''
  for (const key of [...url.searchParams.keys()]) url.searchParams.set(key, 'hidden')
  return url.href
}
