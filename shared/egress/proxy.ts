import { Fault } from '../errors.ts'
import { HOST_PATTERN } from '../gates/hosts.ts'
import { THIS_MACHINE } from './hosts.ts'
import type { EgressSettings } from './settings.ts'

/** A proxy: its address with user and password in it, and who is asked past it. */
export interface EgressProxy {
  readonly url: string
  readonly no_proxy: readonly string[]
}

interface EgressHere {
  readonly egress: EgressSettings
}

/** Of a shell; small letters win, as everywhere. */
const VARIABLES = ['https_proxy', 'HTTPS_PROXY', 'no_proxy', 'NO_PROXY']

/** The environment variables that say which proxy there is, and what it takes. */
export function proxyVariableNames({ egress: { proxy, credentials } }: EgressHere): readonly string[] {
  if (proxy === 'environment') return VARIABLES
  return credentials === undefined ? [] : [credentials.env]
}

/**
 * The proxy of a local place; undefined = it asks straight. Fault InvalidInput proxy_key_missing without its credentials, and
 * bad_settings for an address in HTTPS_PROXY that is none: nothing leaves past a proxy that was asked for.
 */
export function placeProxy({ egress }: EgressHere, held: ReadonlyMap<string, string>): EgressProxy | undefined {
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
  return { url, no_proxy: [...own, ...straight.filter((text) => HOST_PATTERN.test(text))] }
}

/** The proxy of settings that name its address. `credentials`: USER:PASSWORD. */
export function namedProxy({ proxy, no_proxy }: EgressSettings, credentials = ''): EgressProxy | undefined {
  if (proxy === undefined || proxy === 'environment') return undefined
  const url = new URL(proxy)
  const [, user = '', password = ''] = /^([^:]*):?(.*)$/s.exec(credentials) ?? []
  url.username = encodeURIComponent(user)
  url.password = encodeURIComponent(password)
  return { url: url.href, no_proxy }
}

/** What Node takes for the proxy of all requests of `fetch`, by the names of a shell. */
export function proxyVariables({ url, no_proxy }: EgressProxy) {
  return { HTTP_PROXY: url, HTTPS_PROXY: url, NO_PROXY: noProxyText(no_proxy) }
}

/** As NO_PROXY writes it: `.HOST` is every name below. */
function noProxyText(patterns: readonly string[]): string {
  return [...THIS_MACHINE, ...patterns.map((pattern) => pattern.replace(/^\*\./, '.'))].join(',')
}
