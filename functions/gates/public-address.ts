import { BlockList, isIP } from 'node:net'

/**
 * What an address is called when no gate may reach it; undefined = it is public. IANA's special-purpose registries
 * (IPv4 and IPv6, October 2025), all entries, those that are "globally reachable" too: nobody serves pages there.
 * Of IPv6 only global unicast counts, so mapped, compatible, NAT64, unique local and scoped forms need no list.
 */
export function specialAddress(address: string): string | undefined {
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

/** BlockList looks through `::ffff:127.0.0.1`; we do not. */
const MAPPED = /ffff|\./i

const LOOPBACK = listOf(['127.0.0.0/8', '::1/128'])
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
