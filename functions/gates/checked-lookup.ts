import { lookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { addressProblem, portOf, type TargetPolicy } from './net-target.ts'

/** All addresses of a name. The seam of the guarded request: tests answer what an attacker's server would. */
export type Resolve = (host: string) => Promise<readonly string[]>

/** What the guard does not allow; it becomes the answer's reason. */
export class Refusal extends Error {}

/**
 * The lookup of one connection: the name is resolved once, and the socket gets only addresses that were checked, so
 * that there is no second answer of a name server to be fooled by (DNS rebinding).
 */
export function checkedLookup(port: number, policy: TargetPolicy, resolve: Resolve): LookupFunction {
  return (host, { all }, done) => {
    resolve(host).then(
      (found) => {
        const judged = found.map((address) => ({ address, problem: addressProblem(address, port, policy) }))
        const safe = judged.filter(({ problem }) => problem === undefined).map(({ address }) => withFamily(address))
        const [first] = safe
        if (first === undefined) done(noAddress(host, judged[0]?.problem), '', 4)
        else if (all === true) done(null, safe)
        else done(null, first.address, first.family)
      },
      (error: NodeJS.ErrnoException) => done(error, '', 4),
    )
  }
}

function withFamily(address: string) {
  return { address, family: address.includes(':') ? 6 : 4 }
}

/** Which address it was is nobody's business who may not reach it. */
function noAddress(host: string, problem: string | undefined): Error {
  return new Refusal(problem === undefined ? `host ${host} has no address` : `host ${host} leads to ${problem}`)
}

/** As every program of this machine resolves names. */
export const systemResolve: Resolve = (host) =>
  new Promise((resolve, reject) => {
    lookup(host, { all: true }, (error, found) => {
      if (error === null) resolve(found.map(({ address }) => address))
      else reject(error)
    })
  })

/**
 * What is left of that where a proxy resolves names itself (docs/adr/0108): it is handed only hosts that the operator has named,
 * and none that leads, as far as this place can tell, to an address that is not public. Throws Refusal.
 */
export async function checkNamed(url: URL, policy: TargetPolicy, resolve: Resolve): Promise<void> {
  const { hostname } = url
  const { hosts, egress } = policy
  if (hosts === undefined && egress?.hosts === undefined) {
    const fix = 'an operator names it in egress.hosts or http_gates.hosts of sluice.yaml'
    throw new Refusal(`host ${hostname} would be looked up by the proxy, which asks only hosts that are named; ${fix}`)
  }
  // A literal address was judged with the URL.
  if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) return
  const found = await resolve(hostname).catch((): readonly string[] => [])
  const problems = found.map((address) => addressProblem(address, portOf(url), policy))
  if (found.length > 0 && problems.every((problem) => problem !== undefined)) throw noAddress(hostname, problems[0])
}
