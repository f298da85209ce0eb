import { EVENT_ROUTES } from '../../shared/api/event-routes.ts'
import { principalName } from '../../shared/auth/principal.ts'
import { sha256 } from '../../shared/text/hash.ts'
import { canonicalJson } from '../../shared/text/json.ts'
import { changeHandler } from '../http-handler.ts'
import { makeEvent } from '../runs/make-event.ts'
import { sendEvent } from '../runs/waits.ts'
import { nudgeTriggers } from '../triggers/fire-events.ts'

/** API Gateway waits 29 s for an answer. */
const LOOK_MS = 15_000

export const handler = changeHandler({
  name: 'send-event',
  schema: EVENT_ROUTES['send-event'],
  run: async ({ body, principal, idempotencyKey }, world) => {
    const { tenant } = principal
    const by = principalName(principal)
    // A caller that repeats itself means one event.
    const id =
      body.id ?? (idempotencyKey === undefined ? undefined : `key_${sha256(canonicalJson([by, idempotencyKey]))}`)
    const event = await makeEvent(world, { ...body, id, tenant, by })
    const told = await sendEvent(world, event, world.clock.now() + LOOK_MS)
    await nudgeTriggers(world, told.event)
    const { name, key, at, expires_at } = told.event
    const of = { id: told.event.id, name, ...(key === undefined ? {} : { key }), at, expires_at }
    return { json: { event: of, woken: told.woken, all: told.all } }
  },
})
