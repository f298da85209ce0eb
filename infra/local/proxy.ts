import { type EgressProxy, namedProxy } from '../../functions/egress/egress.ts'
import { Fault } from '../../shared/errors.ts'
import { hostPattern } from '../../shared/gates/settings.ts'
import type { Settings } from '../../shared/settings/settings.ts'

/** Of a shell; small letters win, as everywhere. */
const VARIABLES = ['https_proxy', 'HTTPS_PROXY', 'no_proxy', 'NO_PROXY']

/** The environment variables that say which proxy there is, and what it takes. */
export function proxyVariableNames({ egress: { proxy, credentials } }: Pick<Settings, 'egress'>): readonly string[] {
  if (proxy === 'environment') return VARIABLES
  return credentials === undefined ? [] : [credentials.env]
}

/**
 * The proxy of this place; undefined = it asks straight. Fault InvalidInput proxy_key_missing without its credentials, and
 * bad_settings for an address in HTTPS_PROXY that is none: nothing leaves past a proxy that was asked for.
 */
export function placeProxy(
  { egress }: Pick<Settings, 'egress'>,
  held: ReadonlyMap<string, string>,
): EgressProxy | undefined {
  const { proxy, credentials, no_proxy } = egress
  if (proxy === 'environment') return fromEnvironment(no_proxy, held)
  if (credentials === undefined) return namedProxy(egress)
  const key = (held.get(credentials.env) ?? '').trim()
  if (/^[^:]+:.+$/s.test(key)) return namedProxy(egress, key)
  const message = `Cannot use egress.proxy: environment variable ${credentials.env} is not set to USER:PASSWORD. Set it and start the place again.`
  throw new Fault('InvalidInput', 'proxy_key_missing', message)
}

function fromEnvironment(own: readonly string[], held: ReadonlyMap<string, string>): EgressProxy | undefined {
  const first = (...names: readonly string[]) => names.map((name) => held.get(name) ?? '').find((text) => text !== '')
  const url = first('https_proxy', 'HTTPS_PROXY')
  if (url === undefined) return undefined
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? '')) {
    const message =
      'Cannot use egress.proxy: HTTPS_PROXY holds no http or https URL. Mend it and start the place again.'
    throw new Fault('InvalidInput', 'bad_settings', message)
  }
  // Ports and networks are not understood: such hosts are asked through the proxy.
  const straight = (first('no_proxy', 'NO_PROXY') ?? '')
    .split(/[,\s]+/)
    .map((text) => text.toLowerCase().replace(/^\./, '*.'))
  return { url, no_proxy: [...own, ...straight.filter((text) => hostPattern.safeParse(text).success)] }
}
