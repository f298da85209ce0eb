import type { GoalAttempts, StoredGoalAttempt } from '../../../shared/runs/goal-attempts.ts'
import { as, from, type Item } from './attribute-values.ts'
import type { RunTable } from './run-table.ts'
import { ifAbsent } from './table-writes.ts'
import { keepBirth } from './time-to-live.ts'

/** ATTEMPT#, beside the LINEAGE# items of the root: one item a number. */
export function goalAttemptsOf(table: RunTable): GoalAttempts {
  return {
    async goalAttempts(tenant, root) {
      const items = await table.all(attemptKey(tenant, root, ''))
      return items.map((item): StoredGoalAttempt => JSON.parse(from.text(item, 'attempt')))
    },
    async putGoalAttempt(tenant, root, n, { run_id, at, status, fingerprint, unmet, metCount, totalCount }) {
      const key = attemptKey(tenant, root, String(n).padStart(DIGITS, '0'))
      const attempt: StoredGoalAttempt = { n, run_id, at, status, fingerprint, unmet, metCount, totalCount }
      const item = { ...key, run_id: as.text(run_id), attempt: as.json(attempt), ttl: keepBirth(table) }
      const noted = await table.put(item, ifAbsent)
      if (noted.ok) return true
      // Also when the SDK sent it twice and the first answer was lost.
      const there = noted.item ?? (await table.get(key))
      return there?.run_id?.S === run_id
    },
  }
}

/** Sort keys are text: so many digits hold every number a contract can name as its most. */
const DIGITS = 16

function attemptKey(tenant: string, root: string, n: string): Item {
  return { pk: as.text(`T#${tenant}#L#${root}`), sk: as.text(`ATTEMPT#${n}`) }
}
