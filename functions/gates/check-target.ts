import { isIP } from 'node:net'
import { type HttpGateSettings, listProblem } from '../../shared/gate-settings.ts'
import { oneSentence } from '../../shared/gates/one-sentence.ts'
import { strictUrl } from '../../shared/gates/strict-url.ts'
import { isLoopback, specialAddress } from './public-address.ts'

/** What the operator allows, and the port where the local place itself listens. */
export interface TargetPolicy extends HttpGateSettings {
  readonly own_port: number
}

type Target = { readonly ok: true; readonly url: URL } | { readonly ok: false; readonly reason: string }

/**
 * Whether a URL may be asked, by what it says: written strictly, http or https, allowed port and host, and no address
 * that is not public. A name that passes is nothing yet: its addresses are checked when it is resolved.
 */
export function checkTarget(text: string, policy: TargetPolicy): Target {
  const read = strictUrl(text)
  if (!read.ok) return refused(`${JSON.stringify(oneSentence(text, 100))} ${read.message}`)
  const { url } = read
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return refused(`scheme ${url.protocol} is not http or https`)
  if (url.username !== '' || url.password !== '') return refused('a URL with a user name or password is not asked')
  const reason = portProblem(url, policy) ?? hostProblem(url.hostname, policy) ?? literalProblem(url, policy)
  return reason === undefined ? { ok: true, url } : refused(reason)
}

/** Why an address may not be connected to; undefined = it may. */
export function addressProblem(address: string, port: number, policy: TargetPolicy): string | undefined {
  const special = specialAddress(address)
  if (special === undefined) return undefined
  if (!policy.loopback || !isLoopback(address)) return `an address that is not public (${special})`
  return port === policy.own_port ? 'the API of this place itself' : undefined
}

/** 443 or 80 when the URL names none. */
export function portOf({ port, protocol }: URL): number {
  if (port !== '') return Number(port)
  return protocol === 'https:' ? 443 : 80
}

function portProblem(url: URL, { ports }: TargetPolicy): string | undefined {
  const port = portOf(url)
  if (port === 80 || port === 443 || ports.includes(port)) return undefined
  return `port ${port} is not allowed; an operator adds it to http_gates.ports in sluice.yaml`
}

function hostProblem(host: string, { hosts, deny_hosts, loopback }: TargetPolicy): string | undefined {
  if (host.endsWith('.')) return `host ${host} ends with a dot; write it without`
  const problem = listProblem(host, { hosts, deny_hosts })
  if (problem !== undefined) return problem
  const isListed = hosts !== undefined
  if (!isListed && OWN_API.test(host)) {
    return `host ${host} may be this deployment's own API; if it is not, an operator adds it to http_gates.hosts`
  }
  if (!loopback && LOCALHOST.test(host)) return `host ${host} is this machine; ${LOOPBACK_FIX}`
  return undefined
}

/**
 * Names of API Gateway's (public, dual stack, PrivateLink) and of function URLs: ours is one of them, and no function knows
 * which.
 */
const OWN_API =
  /(?:^|\.)execute-api\.[a-z0-9-]+\.(?:vpce\.)?(?:amazonaws\.com(?:\.cn)?|api\.aws)$|\.lambda-url\.[a-z0-9-]+\.on\.(?:aws|amazonwebservices\.com\.cn)$/
const LOCALHOST = /^(?:.+\.)?localhost$|^localhost\.localdomain$|^ip6-(?:localhost|loopback)$/
const LOOPBACK_FIX = 'in the local place an operator allows that with http_gates.loopback in sluice.yaml'

/** A literal address is never looked up, so the check at that moment would miss it. */
function literalProblem(url: URL, policy: TargetPolicy): string | undefined {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (isIP(host) === 0) return undefined
  const problem = addressProblem(host, portOf(url), policy)
  if (problem === undefined) return undefined
  const fix = isLoopback(host) && !policy.loopback ? `; ${LOOPBACK_FIX}` : ''
  return `${url.hostname} is ${problem}${fix}`
}

function refused(reason: string): Target {
  return { ok: false, reason }
}
