import type { Principal } from '../../shared/auth/principal.ts'
import { holdsScope } from '../../shared/auth/scopes.ts'
import { Fault } from '../../shared/errors.ts'
import { BULK_ACTIONS, type Bulk, type BulkAction, type BulkKey } from '../../shared/runs/bulk.ts'
import type { World } from '../../shared/world.ts'

/** Whoever does it to one run needs this too. Fault Rejected missing_scope. */
export function requireScope({ scopes }: Principal, action: BulkAction): void {
  const needed = BULK_ACTIONS[action]
  if (holdsScope(scopes, needed)) return
  const message = `Cannot ${action} runs: the credential does not have the scope ${needed}, which it takes for one run too. Use one that has it.`
  throw new Fault('Rejected', 'missing_scope', message, { facts: { needed } })
}

export async function requireBulk({ runs }: Pick<World, 'runs'>, key: BulkKey): Promise<Bulk> {
  const bulk = await runs.bulk(key)
  if (bulk !== undefined) return bulk
  const message = `Cannot find bulk "${key.bulk_id}": there is no such bulk. \`sluice run bulk list\` shows those there are.`
  throw new Fault('NotFound', 'unknown_bulk', message)
}
