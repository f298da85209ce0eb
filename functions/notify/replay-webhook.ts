import { WEBHOOK_ROUTES } from '../../shared/api/webhook-routes.ts'
import { Fault } from '../../shared/errors.ts'
import type { DeadWebhook } from '../../shared/runs/dead-webhook.ts'
import { readMessageId, webhookMessage } from '../../shared/webhooks/message.ts'
import type { World } from '../../shared/world.ts'
import { changeHandler } from '../http-handler.ts'
import { type Delivery, deliverTo, findEndpoint } from './deliver.ts'

/** The same message, made again of its event, to the endpoint as the settings have it now. */
export const handler = changeHandler({
  name: 'replay-webhook',
  schema: WEBHOOK_ROUTES['replay-webhook'],
  async run({ body, principal }, world) {
    const { tenant } = principal
    const { dead, event } = await findDead(world, tenant, body.id)
    const done = await deliverTo(world, findEndpoint(world.settings, tenant, dead.endpoint), event)
    const now = replayed(dead, done, new Date(world.clock.now()).toISOString())
    await world.runs.replayedWebhook(tenant, now)
    const { ok: delivered, status, ...why } = done
    const reason = 'reason' in why ? { reason: why.reason } : {}
    const said = { ...(status === undefined ? {} : { status }), ...reason }
    return { json: { id: dead.id, endpoint: dead.endpoint, delivered, ...said, dead: now } }
  },
})

/** Its run, event and endpoint are in its id. Another tenant's is as one that never was. */
async function findDead(world: Pick<World, 'runs'>, tenant: string, id: string) {
  const { run_id = '', seq = 0, endpoint = '' } = readMessageId(id) ?? {}
  const run = { tenant, run_id }
  const meta = seq === 0 ? undefined : await world.runs.meta(run)
  const [event] = meta === undefined ? [] : await world.runs.events(run, seq - 1, 1)
  const dead = event?.seq === seq ? await world.runs.deadWebhook(tenant, { id, event_at: event.at }) : undefined
  if (dead === undefined || meta === undefined || event === undefined) {
    const message = `Cannot replay webhook "${id.slice(0, 100)}": no message of this id was given up, or it is older than retention_days. List them: sluice webhooks dead.`
    throw new Fault('NotFound', 'unknown_dead_webhook', message)
  }
  const { type, at } = event
  return { dead, event: { type, at, message: webhookMessage(meta, event, { name: endpoint }) } }
}

/** Once delivered it stays so, whatever a later replay comes to. */
function replayed(dead: DeadWebhook, done: Delivery, at: string): DeadWebhook {
  const status = done.status === undefined ? {} : { status: done.status }
  const last = { at, ...status, reason: done.ok ? tookIt(done) : done.reason }
  return { ...dead, tries: dead.tries + 1, last, ...(done.ok ? { delivered_at: at } : {}) }
}

function tookIt({ status }: Extract<Delivery, { readonly ok: true }>): string {
  return status === undefined ? 'the bus took it' : `it answered ${status}`
}
