import { egressProblem } from '../egress/hosts.ts'
import type { Issue } from '../errors.ts'
import type { Settings } from './settings.ts'

/** What settings have this product ask over HTTP, by where they name it. Calls of AWS's own client are none of them. */
function namedUrls(settings: Omit<Settings, 'egress'>): readonly (readonly [path: string, url: string | undefined])[] {
  const { providers, services, mcp_servers, webhooks, slack, telemetry, research } = settings
  return [
    ...Object.entries(providers).map(([name, provider]) => [`providers.${name}.url`, urlOf(provider)] as const),
    ...Object.entries(services).map(([name, { url }]) => [`services.${name}.url`, url] as const),
    ...Object.entries(mcp_servers).map(([name, { url }]) => [`mcp_servers.${name}.url`, url] as const),
    ...webhooks.map(({ url }, i) => [`webhooks.${i}.url`, url] as const),
    ['slack.api_url', slack?.api_url],
    ['telemetry.otlp.endpoint', telemetry?.otlp.endpoint],
    ['research.webhook', research.webhook],
  ]
}

function urlOf(provider: Settings['providers'][string]): string | undefined {
  return 'url' in provider ? provider.url : undefined
}

/** Hosts that settings have asked and do not allow to be asked: told when they are read, not by the first run. */
export function egressIssues(settings: Settings): readonly Issue[] {
  return namedUrls(settings).flatMap(([path, url]) => {
    const problem = url === undefined ? undefined : egressProblem(new URL(url).hostname, settings.egress)
    return problem === undefined ? [] : [{ path, message: `${problem}. Add it there, or take this out` }]
  })
}
