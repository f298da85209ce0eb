/** Whom requests go to, by the lists of the settings. No schema is here: who answers Slack has no room for them. */

interface HostLists {
  /** Absent = every host. */
  readonly hosts?: readonly string[] | undefined
  readonly deny_hosts: readonly string[]
}

/** A host as URLs write it: `status.example.com`, `*.example.com` for every name below it, an address. */
export const HOST_PATTERN = /^(?:\*\.)?[a-z0-9][a-z0-9._-]*$|^\[[0-9a-f:.]+\]$/

function hostFits(pattern: string, host: string): boolean {
  return pattern.startsWith('*.') ? host.endsWith(pattern.slice(1)) : host === pattern
}

/** Why the operator's lists keep gates and webhooks from a host; undefined = they do not. */
export function hostListProblem(host: string, { hosts, deny_hosts }: HostLists): string | undefined {
  if (deny_hosts.some((pattern) => hostFits(pattern, host))) return `host ${host} is one the operator denies`
  if (hosts === undefined || hosts.some((pattern) => hostFits(pattern, host))) return undefined
  return `host ${host} is not in http_gates.hosts of sluice.yaml`
}

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
