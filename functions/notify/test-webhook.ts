import { WEBHOOK_ROUTES } from '../../shared/api/webhook-routes.ts'
import { changeHandler } from '../http-handler.ts'
import { deliverTo, findEndpoint } from './deliver.ts'

/** Of no run and no event: a receiver tells it by its type. */
export const handler = changeHandler({
  name: 'test-webhook',
  schema: WEBHOOK_ROUTES['test-webhook'],
  async run({ body, principal }, world) {
    const endpoint = findEndpoint(world.settings, principal.tenant, body.name)
    const at = new Date(world.clock.now()).toISOString()
    const id = `test_${Buffer.from(world.ids.random(12)).toString('hex')}-${endpoint.name}`
    const text = JSON.stringify({ id, type: 'webhook:test', at, tenant: principal.tenant, data: {} })
    const event = { type: 'webhook:test', at, message: { id, text } } as const
    const { ok, status, ...why } = await deliverTo(world, endpoint, event)
    const reason = 'reason' in why ? { reason: why.reason } : {}
    return {
      json: { id, endpoint: endpoint.name, delivered: ok, ...(status === undefined ? {} : { status }), ...reason },
    }
  },
})
