import { TRIGGER_ROUTES } from '../../shared/api/trigger-routes.ts'
import { personName, principalName } from '../../shared/auth/principal.ts'
import { Fault } from '../../shared/errors.ts'
import { sha256 } from '../../shared/text/hash.ts'
import { canonicalJson, type Json } from '../../shared/text/json.ts'
import { changeHandler } from '../http-handler.ts'
import { requireTrigger } from './declared-triggers.ts'
import { keepFiring } from './keep-firing.ts'
import { sampleOccasion } from './sample-occasion.ts'
import { showFiring } from './show-trigger.ts'

const ID_BYTES = 12

/** It is kept, and its run is started by the look that follows. The same Idempotency-Key is one firing. */
export const handler = changeHandler({
  name: 'fire-trigger',
  schema: TRIGGER_ROUTES['fire-trigger'],
  async run({ principal, params, body, idempotencyKey }, world) {
    const { tenant } = principal
    const { trigger } = await requireTrigger(world, tenant, params)
    const key = { tenant, ...params }
    const name = principalName(principal)
    const person = personName(principal)
    const own =
      idempotencyKey === undefined
        ? Buffer.from(world.ids.random(ID_BYTES)).toString('base64url')
        : sha256(canonicalJson([name, idempotencyKey]))
    if (trigger.kind === 'object') requireObject(body)
    const sample = await sampleOccasion(world, key, trigger, { ...body, at: new Date(world.clock.now()).toISOString() })
    const by = { name, ...(person === undefined ? {} : { person }) }
    const occasion = { ...sample, id: `hand:${own}`, by, given: body.inputs ?? {} }
    const firing = await keepFiring(world, key, trigger, occasion, { throws: true })
    if (firing.state === 'owed') await world.outbox.fireTriggers()
    return { json: { firing: showFiring(firing) } }
  },
})

/** By hand nothing is dropped: who fires says which object, or gives the inputs. */
function requireObject({ body, inputs }: { readonly body?: Json | undefined; readonly inputs?: object | undefined }) {
  const isGiven = typeof body === 'object' && body !== null && 'ref' in body
  if (isGiven || inputs !== undefined) return
  const message =
    'Cannot fire this trigger by hand without an object: give body.ref, an object ref as PUT /api/objects answers, or inputs. Or drop it again: a new version of it is a new firing.'
  throw new Fault('InvalidInput', 'object_needed', message)
}
