import { TRIGGER_ROUTES } from '../../shared/api/trigger-routes.ts'
import { httpHandler } from '../http-handler.ts'
import { requireTrigger } from './declared-triggers.ts'
import { comingTimes, showFiring, showTrigger } from './show-trigger.ts'

const MOST_OWED = 1_000

export const handler = httpHandler({
  name: 'get-trigger',
  schema: TRIGGER_ROUTES['get-trigger'],
  async run({ principal: { tenant }, params, query }, world) {
    const declared = await requireTrigger(world, tenant, params)
    const key = { tenant, ...params }
    const [owed, page] = await Promise.all([
      world.triggers.owed(tenant, MOST_OWED),
      world.triggers.firings(key, { limit: query.limit, after: query.cursor }),
    ])
    return {
      json: {
        trigger: await showTrigger(world, declared, owed),
        next_times: comingTimes(world, declared.trigger),
        firings: page.firings.map(showFiring),
        next_cursor: page.next ?? null,
      },
    }
  },
})
