import { PLACE_ROUTES } from '../../shared/api/place-routes.ts'
import type { Principal } from '../../shared/auth/principal.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import { httpHandler } from '../http-handler.ts'

/**
 * Keys are references ({env} or {secret}), so only a URL, or an argument of a command, can hold a secret. What belongs to another tenant, and that it is
 * there, is told to nobody else.
 */
export const handler = httpHandler({
  name: 'get-config',
  schema: PLACE_ROUTES['get-config'],
  run: ({ principal }, world) => ({
    json: { config: withoutSecrets(ownSettings(world.settings, principal)), documents: [...world.documents.names()] },
  }),
})

function ownSettings({ slack, iam_tenants, ...settings }: Settings, { tenant }: Principal): Settings {
  const roles = Object.entries(iam_tenants ?? {}).filter(([, of]) => of === tenant)
  return {
    ...settings,
    tenants: [tenant],
    webhooks: settings.webhooks.filter((endpoint) => endpoint.tenant === tenant),
    buses: settings.buses.filter((bus) => bus.tenant === tenant),
    ...(slack?.tenant === tenant ? { slack } : {}),
    ...(roles.length === 0 ? {} : { iam_tenants: Object.fromEntries(roles) }),
  }
}

function withoutSecrets(settings: Settings): Settings {
  const providers = Object.entries(settings.providers).map(([name, provider]) => [
    name,
    {
      ...provider,
      ...('url' in provider && provider.url !== undefined ? { url: withoutCredentials(provider.url) } : {}),
      // A package of the project may be told anything.
      ...('options' in provider ? { options: namesOf(provider.options) } : {}),
      ...('endpoint' in provider && provider.endpoint !== undefined
        ? { endpoint: withoutCredentials(provider.endpoint) }
        : {}),
    },
  ])
  const services = Object.entries(settings.services).map(([name, service]) => {
    return [name, { ...service, url: new URL('/', service.url).href }]
  })
  const servers = Object.entries(settings.mcp_servers).map(([name, server]) => {
    const url = server.url === undefined ? {} : { url: new URL('/', server.url).href }
    return [
      name,
      { ...server, ...url, ...(server.command === undefined ? {} : { command: server.command.slice(0, 1) }) },
    ]
  })
  const { telemetry } = settings
  const { webhook, ...research } = settings.research
  return {
    ...settings,
    ...(telemetry === undefined ? {} : { telemetry: withoutPath(telemetry) }),
    providers: Object.fromEntries(providers),
    services: Object.fromEntries(services),
    mcp_servers: Object.fromEntries(servers),
    // Chat services put the secret into the path.
    webhooks: settings.webhooks.map((endpoint) => ({ ...endpoint, url: new URL('/', endpoint.url).href })),
    research: webhook === undefined ? research : { ...research, webhook: withoutCredentials(webhook) },
  }
}

function namesOf(options: object = {}): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.keys(options).map((name) => [name, '[not shown]']))
}

/** Some services put the secret into the path. */
function withoutPath({ otlp }: NonNullable<Settings['telemetry']>): NonNullable<Settings['telemetry']> {
  return { otlp: { ...otlp, endpoint: new URL('/', otlp.endpoint).href } }
}

function withoutCredentials(address: string): string {
  const url = new URL(address)
  url.username = ''
  url.password = ''
  for (const key of [...url.searchParams.keys()]) url.searchParams.set(key, 'hidden')
  return url.href
}
