import { BULK_ROUTES, showBulk } from '../../shared/api/bulk-routes.ts'
import { type Principal, principalName } from '../../shared/auth/principal.ts'
import { holdsScope } from '../../shared/auth/scopes.ts'
import { Fault } from '../../shared/errors.ts'
import { BULK_LIMITS, type Bulk } from '../../shared/runs/bulk.ts'
import { changeHandler } from '../http-handler.ts'
import { requireBulk, requireScope } from './bulk-rights.ts'

/** Others who change the same bulk at once: whoever carries it out does so each few runs. */
const MOST_TRIES = 50
/** Should whoever is asked for the work die, the sweep asks again so soon. */
const AGAIN_MS = 60_000

/** Starts what somebody was shown, or cancels it; asked for once more it changes nothing. */
export const handler = changeHandler({
  name: 'change-bulk',
  schema: BULK_ROUTES['change-bulk'],
  run: async ({ params, principal, body }, world) => {
    const key = { tenant: principal.tenant, bulk_id: params.bulk_id }
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const bulk = await requireBulk(world, key)
      const now = world.clock.now()
      const change = body.do === 'start' ? started(bulk, principal, now) : cancelled(bulk, principal, now)
      const isLive = (change ?? bulk).state === 'running'
      const check_at = isLive ? new Date(now + AGAIN_MS).toISOString() : undefined
      if (change !== undefined && !(await world.runs.moveBulk(change, check_at))) continue
      if (isLive) await world.outbox.runBulk(key)
      return { json: { bulk: showBulk(change ?? bulk) } }
    }
    const message = `Cannot change bulk "${key.bulk_id}": it is changed by others all the while. Try again.`
    throw new Fault('Conflict', 'bulk_busy', message)
  },
})

/** Only who was shown the runs starts it, and soon. */
function started(bulk: Bulk, principal: Principal, now: number): Bulk | undefined {
  const { bulk_id, action, state, planned_at, count, version } = bulk
  requireScope(principal, action)
  if (principalName(principal) !== principalName(bulk.by)) {
    const message = `Cannot start bulk "${bulk_id}": ${principalName(bulk.by)} planned it, and alone may start it. Plan it again to see what it would be done to now.`
    throw new Fault('Rejected', 'bulk_of_another', message)
  }
  if (state === 'running' || state === 'done') return undefined
  if (state === 'cancelled') {
    throw new Fault('Conflict', 'bulk_cancelled', `Cannot start bulk "${bulk_id}": it was cancelled. Plan it again.`)
  }
  if (now > Date.parse(planned_at) + BULK_LIMITS.planned_ms) {
    const message = `Cannot start bulk "${bulk_id}": it was planned ${planned_at}, more than an hour ago. Plan it again to see what it would be done to now.`
    throw new Fault('Conflict', 'bulk_too_old', message)
  }
  const at = new Date(now).toISOString()
  // With what they may now, not with what they might when it was planned.
  const begun = { ...bulk, by: principal, version: version + 1, started_at: at }
  return count === 0 ? { ...begun, state: 'done', ended_at: at } : { ...begun, state: 'running' }
}

/** Whoever might do it, or stop everything. */
function cancelled(bulk: Bulk, principal: Principal, now: number): Bulk | undefined {
  if (!holdsScope(principal.scopes, 'admin:stop')) requireScope(principal, bulk.action)
  if (bulk.state === 'cancelled') return undefined
  if (bulk.state === 'done') {
    const message = `Cannot cancel bulk "${bulk.bulk_id}": it ended ${bulk.ended_at}.`
    throw new Fault('Conflict', 'bulk_ended', message)
  }
  const at = new Date(now).toISOString()
  const who = { by: principalName(principal), at }
  return { ...bulk, version: bulk.version + 1, state: 'cancelled', cancelled: who, ended_at: at }
}
