import { didYouMean, suggest } from './dag/suggest.ts'
import { listed } from './dag/wording.ts'
import type { Issue } from './errors.ts'
import type { Settings } from './settings.ts'

/** Who is put into a tenant by the settings, and which tenants there are. */
type Placing = Pick<Settings, 'tenants' | 'slack' | 'webhooks' | 'iam_tenants'>

/** Names of tenants that are not in the list of them, by where they stand. */
export function tenantIssues({ tenants, slack, webhooks, iam_tenants = {} }: Placing): readonly Issue[] {
  const named = [
    ...(slack === undefined ? [] : [['slack.tenant', slack.tenant] as const]),
    ...webhooks.map(({ tenant }, i) => [`webhooks.${i}.tenant`, tenant] as const),
    ...Object.entries(iam_tenants).map(([role, tenant]) => [`auth.tenants.${role}`, tenant] as const),
  ]
  return named.filter(([, tenant]) => !tenants.includes(tenant)).map(([path, tenant]) => refusal(path, tenant, tenants))
}

function refusal(path: string, seen: string, tenants: readonly string[]): Issue {
  const hint = didYouMean(suggest(seen, tenants))
  const message = `"${seen}" is not in the list of tenants; allowed: ${listed(tenants)}, or add it to that list`
  return { path, message, ...(hint === undefined ? {} : { hint }) }
}
