import * as http from 'node:http'
import { egressProblem, isStraight } from '../../shared/egress/hosts.ts'
import { type EgressProxy, proxyVariables } from '../../shared/egress/proxy.ts'
import type { EgressSettings } from '../../shared/egress/settings.ts'
import { Fault } from '../../shared/errors.ts'

interface InUse {
  readonly proxy: EgressProxy | undefined
  readonly hosts: EgressSettings['hosts']
}

/** Of a process, since `fetch` is. */
let inUse: InUse = { proxy: undefined, hosts: undefined }

/**
 * From here on `fetch` and net-gate of this process leave by the proxy, and packages of providers ask the listed hosts alone;
 * answers how to take it back. By Node's own means: docs/adr/0108. Fault Bug no_proxy_support on a Node that has none: nothing
 * leaves past a proxy that was asked for.
 */
export function useEgress({ hosts }: Pick<EgressSettings, 'hosts'>, proxy: EgressProxy | undefined): () => void {
  const before = inUse
  const restore = proxy === undefined ? () => undefined : proxyFetch(proxy)
  inUse = { proxy, hosts }
  return () => {
    restore()
    inUse = before
  }
}

function proxyFetch(proxy: EgressProxy): () => void {
  if (typeof http.setGlobalProxyFromEnv !== 'function') throw withoutSupport()
  return http.setGlobalProxyFromEnv(proxyVariables(proxy))
}

/** What an Agent of Node takes for the proxy of all its requests. */
export function proxyEnv({ url }: EgressProxy): { readonly HTTP_PROXY: string; readonly HTTPS_PROXY: string } {
  return { HTTP_PROXY: url, HTTPS_PROXY: url }
}

/**
 * The proxy that a host is asked through; undefined = it is asked straight. Fault Bug no_proxy where the settings ask for one
 * that this process does not use.
 */
export function proxyFor(host: string, { proxy: named, no_proxy }: EgressSettings): EgressProxy | undefined {
  const { proxy } = inUse
  if (named === undefined || isStraight(host, proxy?.no_proxy ?? no_proxy)) return undefined
  if (proxy !== undefined || named === 'environment') return proxy
  const message = 'Cannot ask the outside: the settings name a proxy (egress.proxy) that this process does not use.'
  throw new Fault('Bug', 'no_proxy', message)
}

/** Why nobody of this process may ask a host; undefined = as far as the list of settings goes it may. */
export function listProblem(host: string): string | undefined {
  return egressProblem(host, inUse)
}

function withoutSupport(): Fault {
  const message = `Cannot use egress.proxy: this Node (${process.version}) has no http.setGlobalProxyFromEnv. Use Node 24.14 or later, or take egress.proxy out.`
  return new Fault('Bug', 'no_proxy_support', message)
}
