import { WEBHOOK_ROUTES } from '../../shared/api/webhook-routes.ts'
import type { DeadWebhook } from '../../shared/runs/dead-webhook.ts'
import { httpHandler } from '../http-handler.ts'

/** Store reads one request may cost; then its page is short and the cursor goes on. */
const MAX_READS = 10

export const handler = httpHandler({
  name: 'list-dead-webhooks',
  schema: WEBHOOK_ROUTES['list-dead-webhooks'],
  async run({ query, principal }, { runs }) {
    const { endpoint, delivered, limit, cursor } = query
    const isWanted = (one: DeadWebhook) =>
      (endpoint === undefined || one.endpoint === endpoint) &&
      (delivered !== undefined || one.delivered_at === undefined)
    const dead: DeadWebhook[] = []
    let after = cursor
    for (let reads = 0; reads < MAX_READS && dead.length < limit; reads += 1) {
      const place = after === undefined ? {} : { after }
      const page = await runs.deadWebhooks(principal.tenant, { limit: limit - dead.length, ...place })
      dead.push(...page.dead.filter(isWanted))
      after = page.next
      if (after === undefined) break
    }
    return { json: { dead, next_cursor: after ?? null } }
  },
})
