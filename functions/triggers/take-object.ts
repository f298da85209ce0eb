import * as z from 'zod'
import { Fault } from '../../shared/errors.ts'
import { type Dropped, isOfTrigger, nameOfKey } from '../../shared/triggers/drops.ts'
import { idOfObject, type ObjectTrigger, type TriggerKey } from '../../shared/triggers/trigger.ts'
import type { World } from '../../shared/world.ts'
import { functionHandler } from '../handler.ts'
import { countUploadBytes, isOverQuota } from '../record/storage-quota.ts'
import { type Declared, declaredTriggers } from './declared-triggers.ts'
import { keepFiring, keepRefused, type Occasion } from './keep-firing.ts'
import { isPassedOver } from './trigger-state.ts'

const text = z.string().min(1)

/** As the watch of a folder says it: for one trigger, since each has begun at a time of its own. */
const OfFolder = z.strictObject({
  document: text,
  trigger: text,
  object: z.strictObject({ key: text, version: text, at: z.iso.datetime() }),
})

/** As EventBridge hands over what S3 says ("Object Created"); members beside these say how it came. */
const OfBucket = z.looseObject({
  time: text,
  detail: z.looseObject({ object: z.looseObject({ key: text, 'version-id': text }) }),
})

interface Given {
  readonly object: Dropped
  /** Absent = all of the place. */
  readonly only?: Omit<TriggerKey, 'tenant'>
}

const InputSchema = z.union([
  OfFolder.transform(({ object, ...only }): Given => ({ object, only })),
  OfBucket.transform(({ time, detail: { object } }): Given => {
    const at = new Date(time).toISOString()
    return { object: { key: object.key, version: object['version-id'], at } }
  }),
])

/**
 * What was dropped, and is there whole: keeps a firing of each trigger it is one for, with the body as an object of the tenant.
 * S3 and EventBridge deliver twice and in any order: a version of a key is one firing, whoever tells of it and when.
 */
export const handler = functionHandler({
  name: 'take-object',
  input: InputSchema,
  async run({ object, only }, world) {
    const { declared, unsound } = await declaredTriggers(world)
    const wanted = declared.filter(
      ({ document, trigger }) => only === undefined || (document === only.document && trigger.name === only.trigger),
    )
    if (only !== undefined && wanted.length === 0 && unsound.includes(only.document)) throw unread(only.document)
    let kept = 0
    for (const one of wanted) if (await fireObject(world, one, object)) kept += 1
    if (kept > 0) await world.outbox.fireTriggers()
    return { kept }
  },
})

/** Whoever watches tells of it again. */
function unread(document: string): Fault {
  const message = `Cannot take what was dropped for DAG "${document}" yet: something of its triggers cannot be read.`
  return new Fault('Unavailable', 'triggers_unread', message)
}

/** False: it is none of this trigger, or came while that was paused, or was taken before. */
async function fireObject(world: World, { document, trigger }: Declared, dropped: Dropped): Promise<boolean> {
  if (trigger.kind !== 'object' || !isOfTrigger(trigger, dropped.key)) return false
  const key = { tenant: world.settings.triggers.tenant, document, trigger: trigger.name }
  const id = idOfObject(dropped)
  if ((await world.triggers.firing(key, id)) !== undefined) return false
  if ((await world.triggers.firing(key, `refused:${id}`)) !== undefined) return false
  if (await isPassedOver(world, key, dropped.at)) return false
  const occasion = { id, at: dropped.at, roots: {} }
  const taken = await takeBody(world, key, trigger, dropped)
  if (taken instanceof Fault) await keepRefused(world, key, trigger, { ...occasion, object: sizeOf(dropped, 0) }, taken)
  else await keepFiring(world, key, trigger, { ...occasion, ...taken })
  return true
}

function sizeOf({ key }: Dropped, bytes: number): NonNullable<Occasion['object']> {
  return { key, bytes }
}

/** What expressions read of it; a Fault that no other try mends. */
async function takeBody(
  world: World,
  { tenant, document, trigger: name }: TriggerKey,
  { object: { max_bytes } }: ObjectTrigger,
  dropped: Dropped,
): Promise<Pick<Occasion, 'roots' | 'object'> | Fault> {
  const { key, version, at } = dropped
  const found = await world.drops.read(dropped, max_bytes)
  const doing = `Cannot fire trigger "${name}" of DAG "${document}": "${key.slice(0, 200)}"`
  if (found.is === 'gone') {
    const message = `${doing} is not there any more as it was dropped: it was removed or written anew before it was read.`
    return new Fault('InvalidInput', 'object_gone', message)
  }
  if (found.is === 'too_large') {
    const message = `${doing} has ${found.bytes} bytes, at most ${max_bytes} are taken. Drop a smaller one, or raise max_bytes of the trigger.`
    return new Fault('InvalidInput', 'object_too_large', message, { facts: { bytes: found.bytes, max_bytes } })
  }
  const { body } = found
  try {
    await countUploadBytes(world, tenant, body.byteLength)
  } catch (error) {
    if (isOverQuota(error)) return error
    throw error
  }
  const { ref, sha256, bytes } = await world.objects.put(tenant, body)
  return { roots: { object: { ref, key, name: nameOfKey(key), bytes, sha256, version, at } }, object: { key, bytes } }
}
