import type { Chosen } from './access.ts'

/** A condition of a policy, by the tenants there are and whose the workspace of Slack is. */
export type Condition = (of: Pick<Chosen, 'tenants' | 'slack'>) => Record<string, Record<string, string | string[]>>

/** Exactly these partitions of each tenant, by what follows its name. */
export function partitions(...ends: readonly string[]): Condition {
  return ({ tenants }) => ({ 'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': keysOf(tenants, ends) } })
}

/** Partitions of each tenant whose names are like these. */
export function partitionsLike(...ends: readonly string[]): Condition {
  return ({ tenants }) => ({ 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': keysOf(tenants, ends) } })
}

/** A single one is no list: so it was before there were several tenants. */
function keysOf(tenants: readonly string[], ends: readonly string[]): string | string[] {
  const [key = '', ...more] = tenants.flatMap((tenant) => ends.map((end) => `T#${tenant}${end}`))
  return more.length === 0 ? key : [key, ...more]
}
