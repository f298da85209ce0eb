import type { Erasure } from '../../shared/runs/erasure.ts'
import { giveUpAt, retryAt } from '../../shared/webhooks/endpoint-deliveries.ts'
import { erasureMessage, type WebhookWork } from '../../shared/webhooks/message.ts'
import type { Endpoint } from '../../shared/webhooks/settings.ts'
import type { World } from '../../shared/world.ts'
import type { Delivery, Telling } from './deliver.ts'

type ErasureWorld = Pick<World, 'runs' | 'clock' | 'ids' | 'log'>

/**
 * Tells one endpoint that a run was erased, by its ids alone: HEAD, where else it stands what is owed, is gone. Who is still to
 * be told stands in the mark. Who dies after the message was taken, or meets another worker, sends the same message again.
 */
export async function tellErasure<E extends Endpoint>(
  world: ErasureWorld,
  { run, endpoint: name }: WebhookWork,
  endpoint: E | undefined,
  telling: Telling<E>,
): Promise<{ readonly told: number }> {
  const erasure = (await world.runs.mark(run))?.erasure
  if (erasure?.untold?.includes(name) !== true) return { told: 0 }
  const done: Delivery | undefined =
    endpoint && (await telling.deliver(endpoint, erasureMessage(run, erasure, endpoint), typeOf(erasure)))
  if (endpoint === undefined || done?.ok !== false) await note(world, run, name, undefined)
  else await failed(world, run, endpoint, done)
  return { told: done?.ok === true ? 1 : 0 }
}

function typeOf({ erased_at = '' }: Erasure) {
  return { type: 'run:erased' as const, at: erased_at }
}

const GONE = 410
/** Of a message that is tried again: as if it were the third time. */
const TRIES = 3

async function failed(
  world: ErasureWorld,
  run: WebhookWork['run'],
  endpoint: Endpoint,
  done: Extract<Delivery, { readonly ok: false }>,
): Promise<void> {
  const now = world.clock.now()
  const erased = (await world.runs.mark(run))?.erasure?.erased_at ?? new Date(now).toISOString()
  const expires = giveUpAt(erased, erased, endpoint.give_up_sec)
  const { status, reason, retry_after_ms } = done
  const facts = { run_id: run.run_id, endpoint: endpoint.name, status, reason }
  if (status === GONE || now >= expires) {
    world.log.error('an endpoint was not told of an erasure', facts)
    return note(world, run, endpoint.name, undefined, true)
  }
  const [dice = 0] = world.ids.random(1)
  const due = retryAt({ tries: TRIES, now, expires, retry_after_ms, dice: dice / 256 })
  world.log.info('an endpoint did not take an erasure', { ...facts, due_at: new Date(due).toISOString() })
  await note(world, run, endpoint.name, new Date(due).toISOString())
}

const MOST_MOVES = 20

/** Told or given up, it stands in the mark no more; `again`: when it is tried next. */
async function note(
  { runs }: ErasureWorld,
  run: WebhookWork['run'],
  name: string,
  again: string | undefined,
  isGivenUp = false,
): Promise<void> {
  for (let moves = 0; moves < MOST_MOVES; moves += 1) {
    const mark = await runs.mark(run)
    if (mark?.erasure?.untold?.includes(name) !== true) return
    const to = again === undefined ? withoutUntold(mark.erasure, name, isGivenUp) : mark.erasure
    const next = to.untold === undefined ? undefined : (again ?? mark.check_at)
    if (await runs.moveErasure(run, { ...to, version: mark.erasure.version + 1 }, next)) return
  }
}

function withoutUntold({ untold = [], not_told = [], ...erasure }: Erasure, name: string, isGivenUp: boolean): Erasure {
  const left = untold.filter((one) => one !== name)
  const never = isGivenUp ? [...not_told, name] : not_told
  return { ...erasure, ...(left.length > 0 && { untold: left }), ...(never.length > 0 && { not_told: never }) }
}
