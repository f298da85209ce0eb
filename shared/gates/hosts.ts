/** Hosts as the lists of settings name them. No schema is here: who answers Slack has no room for them. */

/** A host as URLs write it: `status.example.com`, `*.example.com` for every name below it, an address. */
export const HOST_PATTERN = /^(?:\*\.)?[a-z0-9][a-z0-9._-]*$|^\[[0-9a-f:.]+\]$/

export function hostFits(pattern: string, host: string): boolean {
  return pattern.startsWith('*.') ? host.endsWith(pattern.slice(1)) : host === pattern
}

export interface HostLists {
  /** Absent = every host. */
  readonly hosts?: readonly string[] | undefined
  readonly deny_hosts: readonly string[]
}

/** Why the operator's lists keep gates and webhooks from a host; undefined = they do not. */
export function hostListProblem(host: string, { hosts, deny_hosts }: HostLists): string | undefined {
  if (deny_hosts.some((pattern) => hostFits(pattern, host))) return `host ${host} is one the operator denies`
  if (hosts === undefined || hosts.some((pattern) => hostFits(pattern, host))) return undefined
  return `host ${host} is not in http_gates.hosts of sluice.yaml`
}
