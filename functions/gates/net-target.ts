import { BlockList, isIP } from 'node:net'
import { egressProblem } from '../../shared/egress/hosts.ts'
import type { EgressSettings } from '../../shared/egress/settings.ts'
import { hostListProblem } from '../../shared/gates/hosts.ts'
import type { HttpGateSettings } from '../../shared/gates/settings.ts'
import { isBelowService, type ServiceSettings } from '../../shared/services/settings.ts'
import { safeOneLine } from '../../shared/text/redact.ts'
import { strictUrl } from '../../shared/text/url.ts'

/** What the operator allows, and the port where the local place itself listens. */
export interface TargetPolicy extends HttpGateSettings {
  readonly own_port: number
  /** By which way requests leave, and what they may ask at all; absent = straight, and anything the rest allows. */
  readonly egress?: EgressSettings
  /** Nothing but what is below its URL is asked: a request of a service. */
  readonly service?: Pick<ServiceSettings, 'url' | 'private'>
}

/**
 * What a service may be asked: naming it is what allows its host and port, and where it is private its network. Hosts the
 * operator denies stay denied, and so does what was never his to allow: metadata of clouds, the API of this place.
 */
export function servicePolicy(
  service: Pick<ServiceSettings, 'url' | 'private'>,
  { deny_hosts, own_port, egress }: Pick<TargetPolicy, 'deny_hosts' | 'own_port' | 'egress'>,
): TargetPolicy {
  const url = new URL(service.url)
  return {
    service,
    hosts: [url.hostname],
    ports: [portOf(url)],
    deny_hosts,
    loopback: service.private,
    own_port,
    ...(egress === undefined ? {} : { egress }),
  }
}

type Target = { readonly ok: true; readonly url: URL } | { readonly ok: false; readonly reason: string }

/**
 * Whether a URL may be asked, by what it says: written strictly, http or https, allowed port and host, and no address
 * that is not public. A name that passes is nothing yet: its addresses are checked when it is resolved.
 */
export function checkTarget(text: string, policy: TargetPolicy): Target {
  const read = strictUrl(text)
  if (!read.ok) return refused(`${JSON.stringify(safeOneLine(text, 100))} ${read.message}`)
  const { url } = read
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return refused(`scheme ${url.protocol} is not http or https`)
  if (url.username !== '' || url.password !== '') return refused('a URL with a user name or password is not asked')
  const { service } = policy
  if (service !== undefined && !isBelowService(service, text)) return refused('it is not below the URL of the service')
  const reason = portProblem(url, policy) ?? hostProblem(url.hostname, policy) ?? literalProblem(url, policy)
  return reason === undefined ? { ok: true, url } : refused(reason)
}

/** Why an address may not be connected to; undefined = it may. */
export function addressProblem(address: string, port: number, policy: TargetPolicy): string | undefined {
  const special = nonPublicAddressKind(address)
  const { service } = policy
  if (special === undefined)
    return service?.url.startsWith('http:') ? 'a public address: that is asked over https' : undefined
  if (service?.private === true && isPrivate(address)) return undefined
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

function hostProblem(host: string, policy: TargetPolicy): string | undefined {
  const { hosts, deny_hosts } = policy
  if (host.endsWith('.')) return `host ${host} ends with a dot; write it without`
  const problem = hostListProblem(host, { hosts, deny_hosts }) ?? egressProblem(host, policy.egress ?? {})
  if (problem !== undefined) return problem
  const isListed = hosts !== undefined
  if (!isListed && OWN_API.test(host)) {
    return `host ${host} may be this deployment's own API; if it is not, an operator adds it to http_gates.hosts`
  }
  if (!policy.loopback && LOCALHOST.test(host)) return `host ${host} is this machine; ${fixOf(policy)}`
  return undefined
}

/**
 * Names of API Gateway's (public, dual stack, PrivateLink) and of function URLs: ours is one of them, and no function knows
 * which.
 */
const OWN_API =
  /(?:^|\.)execute-api\.[a-z0-9-]+\.(?:vpce\.)?(?:amazonaws\.com(?:\.cn)?|api\.aws)$|\.lambda-url\.[a-z0-9-]+\.on\.(?:aws|amazonwebservices\.com\.cn)$/
const LOCALHOST = /^(?:.+\.)?localhost$|^localhost\.localdomain$|^ip6-(?:localhost|loopback)$/

function fixOf({ service }: TargetPolicy): string {
  const key = service === undefined ? 'http_gates.loopback' : 'private: true of the service'
  return `in the local place an operator allows that with ${key} in sluice.yaml`
}

/** A literal address is never looked up, so the check at that moment would miss it. */
function literalProblem(url: URL, policy: TargetPolicy): string | undefined {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (isIP(host) === 0) return undefined
  const problem = addressProblem(host, portOf(url), policy)
  if (problem === undefined) return undefined
  const fix = isLoopback(host) && !policy.loopback ? `; ${fixOf(policy)}` : ''
  return `${url.hostname} is ${problem}${fix}`
}

function refused(reason: string): Target {
  return { ok: false, reason }
}

/**
 * What an address is called when no gate may reach it; undefined = it is public. IANA's special-purpose registries
 * (IPv4 and IPv6, October 2025), all entries, those that are "globally reachable" too: nobody serves pages there.
 * Of IPv6 only global unicast counts, so mapped, compatible, NAT64, unique local and scoped forms need no list.
 */
export function nonPublicAddressKind(address: string): string | undefined {
  if (isIP(address) === 4) return IPV4.find(([, list]) => list.check(address))?.[0]
  // A scope (`%eth0`) says on which link: no public address has one.
  if (isIP(address) !== 6 || address.includes('%')) return 'no public address'
  if (LOOPBACK.check(address, 'ipv6')) return 'loopback'
  if (!GLOBAL_UNICAST.check(address, 'ipv6')) return 'no global IPv6 address'
  return IPV6.find(([, list]) => list.check(address, 'ipv6'))?.[0]
}

/** The machine itself, as it is written and in no mapped form. */
export function isLoopback(address: string): boolean {
  if (isIP(address) === 4) return LOOPBACK.check(address)
  return isIP(address) === 6 && !address.includes('%') && LOOPBACK.check(address, 'ipv6') && !MAPPED.test(address)
}

/** Networks of one's own, where a service may be that the operator calls private; not where AWS keeps metadata in IPv6. */
function isPrivate(address: string): boolean {
  if (isIP(address) === 4) return PRIVATE.check(address)
  if (isIP(address) !== 6 || address.includes('%') || MAPPED.test(address)) return false
  return PRIVATE.check(address, 'ipv6') && !METADATA.check(address, 'ipv6')
}

/** BlockList looks through `::ffff:127.0.0.1`; we do not. */
const MAPPED = /ffff|\./i

const LOOPBACK = listOf(['127.0.0.0/8', '::1/128'])
const PRIVATE = listOf(['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'])
const METADATA = listOf(['fd00:ec2::/32'])
const GLOBAL_UNICAST = listOf(['2000::/3'])

const IPV4 = named([
  ['loopback', ['127.0.0.0/8']],
  ['private', ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16']],
  ['link-local (where clouds keep their metadata)', ['169.254.0.0/16']],
  // The second is public and yet answers inside one cloud only.
  ["a cloud's own", ['192.0.0.0/24', '168.63.129.16/32']],
  ["shared between a provider's customers", ['100.64.0.0/10']],
  ['this network', ['0.0.0.0/8']],
  ['multicast', ['224.0.0.0/4']],
  ['documentation', ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24']],
  ['benchmarking', ['198.18.0.0/15']],
  ['reserved', ['192.31.196.0/24', '192.52.193.0/24', '192.88.99.0/24', '192.175.48.0/24', '240.0.0.0/4']],
])

const IPV6 = named([
  ['a tunnel (6to4, Teredo)', ['2002::/16', '2001::/32']],
  ['documentation', ['2001:db8::/32', '3fff::/20']],
  ['reserved', ['2001::/23', '2620:4f:8000::/48', '3ffe::/16']],
])

function named(ranges: readonly (readonly [string, readonly string[]])[]): readonly (readonly [string, BlockList])[] {
  return ranges.map(([name, subnets]) => [name, listOf(subnets)])
}

function listOf(subnets: readonly string[]): BlockList {
  const list = new BlockList()
  for (const subnet of subnets) {
    const [network = '', bits] = subnet.split('/')
    list.addSubnet(network, Number(bits), network.includes(':') ? 'ipv6' : 'ipv4')
  }
  return list
}
