import { Fault } from '../../shared/errors.ts'
import { EVENT_LIMITS, type OutsideEvent } from '../../shared/runs/outside-event.ts'
import { readDuration } from '../../shared/text/duration.ts'
import { canonicalJson, type Json } from '../../shared/text/json.ts'
import type { World } from '../../shared/world.ts'
import { countUploadBytes } from '../record/storage-quota.ts'

/** What somebody says of an event; what they leave out is made here. */
interface Sent {
  readonly tenant: string
  readonly name: string
  readonly by: string
  readonly key?: string | undefined
  readonly payload?: Json | undefined
  readonly id?: string | undefined
  readonly expires_in?: string | number | undefined
}

type EventWorld = Pick<World, 'objects' | 'runs' | 'settings' | 'clock' | 'ids'>

const ID_BYTES = 15

/** An event of outside with its payload stored, which counts against the tenant's quota. Fault LimitExceeded event_too_large. */
export async function makeEvent(world: EventWorld, sent: Sent): Promise<OutsideEvent> {
  const { tenant, name, key, by, id = newId(world), expires_in } = sent
  const body = Buffer.from(canonicalJson(sent.payload ?? {}))
  requireSize(name, body.byteLength)
  await countUploadBytes(world, tenant, body.byteLength)
  const payload = await world.objects.put(tenant, body)
  const now = world.clock.now()
  const kept = readDuration(expires_in) ?? EVENT_LIMITS.kept_sec
  const at = new Date(now).toISOString()
  const expires_at = new Date(now + Math.min(kept, EVENT_LIMITS.most_kept_sec) * 1_000).toISOString()
  return { tenant, id, name, ...(key === undefined ? {} : { key }), at, expires_at, payload, by }
}

function requireSize(name: string, bytes: number): void {
  const { payload_bytes } = EVENT_LIMITS
  if (bytes <= payload_bytes) return
  const message = `Cannot send event "${name}": its payload has ${bytes} bytes, at most ${payload_bytes} are allowed. Store it with PUT /api/objects and send the ref.`
  throw new Fault('LimitExceeded', 'event_too_large', message, { status: 413, facts: { max_bytes: payload_bytes } })
}

function newId({ ids }: Pick<World, 'ids'>): string {
  return `evt_${Buffer.from(ids.random(ID_BYTES)).toString('base64url')}`
}
