import { Fault } from '../../shared/errors.ts'
import { isTime } from '../../shared/text/duration.ts'
import { sha256 } from '../../shared/text/hash.ts'
import type { Json } from '../../shared/text/json.ts'
import { isOfTrigger, nameOfKey } from '../../shared/triggers/drops.ts'
import { nextTime } from '../../shared/triggers/schedule.ts'
import {
  idOfMessage,
  idOfRunEnd,
  idOfTime,
  type ObjectTrigger,
  programWithTime,
  type Trigger,
  type TriggerKey,
} from '../../shared/triggers/trigger.ts'
import type { World } from '../../shared/world.ts'
import { type Occasion, readBy } from './keep-firing.ts'
import { dedupeOf } from './message-key.ts'

/** What somebody gives for what would come. */
interface Sample {
  readonly body?: Json | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly at?: string | undefined
}

/** The occasion a sample stands for: what it would be told by, and what expressions read of it. */
export async function sampleOccasion(
  world: Pick<World, 'isolate' | 'clock'>,
  key: TriggerKey,
  trigger: Trigger,
  { body = null, headers = {}, at: given }: Sample,
): Promise<Occasion> {
  const at = timeOf(world, trigger, given)
  if (trigger.kind === 'schedule') return { id: idOfTime(at), at, roots: {} }
  if (trigger.kind === 'event') {
    const event = { id: 'sample', name: trigger.event.name, at, payload: body }
    return { id: 'event:sample', at, roots: { event, detail: body } }
  }
  if (trigger.kind === 'run') {
    const [state] = trigger.run.ends
    const run = {
      run_id: 'run_sample',
      dag: trigger.run.dag,
      state: state ?? null,
      starter: 'user:sample',
      ended_at: at,
    }
    return { id: idOfRunEnd('run_sample'), at, roots: { run, outputs: body ?? {} } }
  }
  if (trigger.kind === 'object') {
    const object = sampleObject(key, trigger, body, at)
    return { id: 'object:sample', at, roots: { object } }
  }
  const small = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  const roots = { body, headers: small, query: {} }
  const { dedupe } = trigger.webhook
  const id =
    dedupe === undefined
      ? idOfMessage({ signed: Buffer.from(JSON.stringify(body)) })
      : idOfMessage({ dedupe: await dedupeOf(world, key, dedupe, roots) })
  return { id, at, roots }
}

/** Of nothing: what expressions would read of an empty one. */
const OF_NOTHING = sha256(new Uint8Array())

function sampleObject({ tenant }: TriggerKey, { object }: ObjectTrigger, body: Json, at: string): Json {
  const { prefix, suffix } = object
  const given = typeof body === 'object' && body !== null && !Array.isArray(body) ? body : {}
  const key = 'key' in given && typeof given.key === 'string' ? given.key : `${prefix}sample${suffix}`
  const ref = `objstore://${tenant}/${OF_NOTHING}`
  return { ref, key, name: nameOfKey(key), bytes: 0, sha256: OF_NOTHING, version: 'sample', at, ...given }
}

function timeOf({ clock }: Pick<World, 'clock'>, trigger: Trigger, given: string | undefined): string {
  if (given !== undefined) {
    if (isTime(given)) return new Date(given).toISOString()
    const message = `Cannot take "${given}" as the time of a firing: give one such as 2026-12-24T18:00:00Z, with its offset.`
    throw new Fault('InvalidInput', 'bad_time', message)
  }
  const now = clock.now()
  const time = trigger.kind === 'schedule' ? (nextTime(trigger.schedule, now) ?? now) : now
  return new Date(time).toISOString()
}

/** Whether an event, or an object, would be one it fires for. */
export async function isSampleMatch(
  { isolate }: Pick<World, 'isolate'>,
  key: TriggerKey,
  trigger: Trigger,
  occasion: Occasion,
): Promise<boolean> {
  if (trigger.kind === 'object') return isOfTrigger(trigger, keyOf(occasion))
  if (trigger.kind !== 'event' || trigger.event.match === undefined) return true
  const input = readBy(key, occasion)
  const answer = await isolate.run(
    'transform',
    { program: programWithTime(trigger.event.match), input },
    undefined,
    key,
  )
  return answer.ok && answer.value === true
}

function keyOf({ roots }: Occasion): string {
  const { object } = roots
  return typeof object === 'object' && object !== null && 'key' in object ? String(object.key) : ''
}
