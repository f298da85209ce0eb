import { type HostLists, hostFits } from '../gates/hosts.ts'

/** Why a host may not be asked at all; undefined = as far as `egress.hosts` goes it may. This machine is not the outside. */
export function egressProblem(host: string, { hosts }: Pick<HostLists, 'hosts'>): string | undefined {
  if (hosts === undefined || isThisMachine(host) || hosts.some((pattern) => hostFits(pattern, host))) return undefined
  return `host ${host} is not in egress.hosts of sluice.yaml`
}

/** As URLs write them. */
export const THIS_MACHINE = ['localhost', '127.0.0.1', '[::1]']

function isThisMachine(host: string): boolean {
  return THIS_MACHINE.includes(host)
}

/** Whether a host is asked past the proxy. */
export function isStraight(host: string, noProxy: readonly string[]): boolean {
  return isThisMachine(host) || noProxy.some((pattern) => hostFits(pattern, host))
}
