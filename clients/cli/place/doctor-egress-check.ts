import * as http from 'node:http'
import * as https from 'node:https'
import { type EgressProxy, placeProxy, proxyVariableNames, proxyVariables } from '../../../shared/egress/proxy.ts'
import { Fault } from '../../../shared/errors.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { listed } from '../../../shared/text/wording.ts'
import type { Session } from '../terminal/session.ts'
import { type Check, check } from './doctor-check.ts'

/** By which way requests leave, as the settings say it, and what of it works. `proxy`: what the place would use. */
interface EgressCheck {
  readonly check: Check
  readonly proxy?: EgressProxy
}

const NAME = 'egress'

/** Whether the proxy can be reached and takes the credentials, and whom the allow-list lets through. No address is asked. */
export async function egressCheck(session: Session, settings: Settings): Promise<EgressCheck> {
  const { egress } = settings
  const to = hostWords(egress.hosts)
  if (egress.proxy === undefined) {
    const state = egress.hosts === undefined ? check.skipped : check.ok
    return { check: state(NAME, `requests leave straight, ${to}`) }
  }
  if (session.signed !== undefined)
    return { check: check.skipped(NAME, `by ${egress.proxy}, ${to}; only the network of the stage reaches it`) }
  const found = proxyHere(session, settings)
  if (found instanceof Fault) return { check: check.failed(NAME, found.message, 'set it where the place is started') }
  if (found === undefined) {
    const says = `egress.proxy is environment, and HTTPS_PROXY is not set: requests leave straight, ${to}`
    return { check: check.warning(NAME, says, 'set HTTPS_PROXY where the place is started, or name the proxy') }
  }
  return { check: await reached(found, to), proxy: found }
}

/** From here on `fetch` of this process leaves as that of the place does; answers how to take it back. */
export function fetchThrough(proxy: EgressProxy | undefined): () => void {
  if (proxy === undefined || typeof http.setGlobalProxyFromEnv !== 'function') return () => undefined
  return http.setGlobalProxyFromEnv(proxyVariables(proxy))
}

function hostWords(hosts: readonly string[] | undefined): string {
  if (hosts === undefined) return 'to any public host'
  return hosts.length === 0 ? 'to no host: egress.hosts is empty' : `to hosts of egress.hosts: ${listed(hosts)}`
}

function proxyHere(session: Session, settings: Settings): EgressProxy | Fault | undefined {
  const held = proxyVariableNames(settings).map((name) => [name, session.key(name) ?? ''] as const)
  try {
    return placeProxy(settings, new Map(held))
  } catch (error) {
    if (error instanceof Fault) return error
    throw error
  }
}

async function reached(proxy: EgressProxy, to: string): Promise<Check> {
  const { origin } = new URL(proxy.url)
  const past = proxy.no_proxy.length === 0 ? '' : `, past it ${listed(proxy.no_proxy)}`
  const seen = await askProxy(new URL(proxy.url))
  if (typeof seen === 'string')
    return check.failed(
      NAME,
      `proxy ${origin} does not answer: ${seen}`,
      'start it, or mend egress.proxy in sluice.yaml',
    )
  if (seen === REFUSED)
    return check.failed(
      NAME,
      `proxy ${origin} refuses this user and password (407)`,
      'mend what egress.credentials names',
    )
  return check.ok(NAME, `by ${origin}, which answers${past}, ${to}`)
}

const PATIENCE_MS = 2_000
const REFUSED = 407
/** A name that nobody has (RFC 6761): a proxy that looks it up finds nothing, and nothing is asked. */
const NOWHERE = 'sluice.invalid:443'

/** The status a proxy answers with, 0 where it took the connection and says nothing in time; why it cannot be reached. */
function askProxy({ protocol, hostname, port, username, password }: URL): Promise<number | string> {
  const key = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')
  const headers = { host: NOWHERE, ...(username === '' ? {} : { 'proxy-authorization': `Basic ${key}` }) }
  const { request, usual } = protocol === 'https:' ? { ...https, usual: 443 } : { ...http, usual: 80 }
  return new Promise((resolve) => {
    let isConnected = false
    const asked = request({
      method: 'CONNECT',
      path: NOWHERE,
      host: hostname.replace(/^\[|\]$/g, ''),
      port: port === '' ? usual : port,
      headers,
      agent: false,
    })
    const timer = setTimeout(() => {
      resolve(isConnected ? 0 : `nothing within ${PATIENCE_MS / 1_000} s`)
      asked.destroy()
    }, PATIENCE_MS)
    const told = (seen: number | string) => {
      clearTimeout(timer)
      resolve(seen)
      asked.destroy()
    }
    asked.on('socket', (socket) => {
      socket.once('connect', () => {
        isConnected = true
      })
    })
    asked.on('connect', ({ statusCode = 0 }, socket) => {
      socket.destroy()
      told(statusCode)
    })
    asked.on('response', ({ statusCode = 0 }) => told(statusCode))
    asked.on('error', (error) => told(error.message))
    asked.end()
  })
}
