import * as z from 'zod'
import { MAIN_TENANT } from '../../shared/auth/principal.ts'
import { Fault } from '../../shared/errors.ts'
import { EVENT_LIMITS, EVENT_NAME_RULE, isEventKey, isEventName } from '../../shared/runs/outside-event.ts'
import type { Json } from '../../shared/text/json.ts'
import { jsonProblem } from '../../shared/text/strict-json.ts'
import { functionHandler } from '../handler.ts'
import { makeEvent } from '../runs/make-event.ts'
import { sendEvent } from '../runs/waits.ts'
import { nudgeTriggers } from '../triggers/fire-events.ts'

/** An event as EventBridge hands it over; members beside these say where it came from. */
const InputSchema = z.looseObject({
  id: z.string().min(1).max(EVENT_LIMITS.id_characters),
  'detail-type': z.string(),
  source: z.string(),
  detail: z.custom<Json>((value) => value !== undefined),
})

/** An asynchronous call: it has the whole time of its function. */
const LOOK_MS = 200_000

/**
 * What a rule of EventBridge sends here, where the settings ask for one: the detail-type is the name, the detail the
 * payload, and its member `key`, where it is a text, the key. Delivered twice it is one event: EventBridge gives it an id. One that cannot be taken is
 * told in the log and comes no more.
 */
export const handler = functionHandler({
  name: 'receive-event',
  input: InputSchema,
  async run({ id, 'detail-type': name, source, detail }, world) {
    const tenant = world.settings.events?.tenant ?? MAIN_TENANT
    const problem = jsonProblem(detail)
    if (!isEventName(name) || problem !== undefined) {
      const why = problem?.text ?? `its detail-type is no name of an event; a name is ${EVENT_NAME_RULE}`
      world.log.error('event not taken', { id, source, reason: why })
      return { woken: 0 }
    }
    try {
      const made = await makeEvent(world, {
        tenant,
        name,
        key: keyOf(detail),
        payload: detail,
        id,
        by: `eventbridge:${source}`,
      })
      const { woken } = await sendEvent(world, made, world.clock.now() + LOOK_MS)
      await nudgeTriggers(world, made)
      return { woken }
    } catch (error) {
      // Sent again it would be refused again.
      if (!(error instanceof Fault) || error.name === 'Unavailable') throw error
      world.log.error('event not taken', { id, source, reason: error.message })
      return { woken: 0 }
    }
  },
})

function keyOf(detail: Json): string | undefined {
  if (typeof detail !== 'object' || detail === null || !('key' in detail)) return undefined
  return typeof detail.key === 'string' && isEventKey(detail.key) ? detail.key : undefined
}
