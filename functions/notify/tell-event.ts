import { Fault } from '../../shared/errors.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import type { Head } from '../../shared/runs/head.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { EndpointEntry } from '../../shared/webhooks/endpoint-entry.ts'
import { entryAfter } from '../../shared/webhooks/entry-after.ts'
import { expiryOf, retryAt } from '../../shared/webhooks/retry-at.ts'
import { webhookMessage } from '../../shared/webhooks/webhook-message.ts'
import type { WebhookEndpoint } from '../../shared/webhooks/webhook-settings.ts'
import type { World } from '../../shared/world.ts'
import { type DeliverWorld, type Delivery, deliverOnce } from './deliver-once.ts'

export type TellWorld = DeliverWorld & Pick<World, 'runs' | 'ids' | 'log' | 'settings'>

/** One event that its endpoint wants, and where the run and the endpoint are. */
interface ToTell {
  readonly endpoint: WebhookEndpoint
  readonly entry: EndpointEntry
  readonly head: Head
  readonly event: RunEvent
}

/**
 * Sends one message, then notes in HEAD how it went: taken, to be tried again, or dead. Whether it was taken. A dead one
 * is stored before it is passed over; 410 ends what is owed to this endpoint of this run (docs/adr/0054).
 */
export async function tellEvent(world: TellWorld, run: RunKey, told: ToTell): Promise<boolean> {
  const { endpoint, entry, head, event } = told
  const meta = await world.runs.meta(run)
  if (meta === undefined) throw new Fault('Bug', 'meta_missing', `Run "${run.run_id}" has HEAD but no META.`)
  const message = webhookMessage(meta, event, endpoint)
  const done = await deliverOnce(world, endpoint, message)
  if (done.ok) await world.runs.moveEntry(run, entry, entryAfter(head, entry, event.seq))
  else await failed(world, run, told, { ...done, id: message.id })
  return done.ok
}

type Failed = Extract<Delivery, { readonly ok: false }> & { readonly id: string }

const GONE = 410

async function failed(world: TellWorld, run: RunKey, told: ToTell, done: Failed): Promise<void> {
  const { endpoint, entry, event } = told
  const now = world.clock.now()
  const { tries = 0, failing_since = new Date(now).toISOString() } = entry
  const expires = expiryOf(event.at, failing_since, endpoint.give_up_sec)
  const tried = { ...entry, from_seq: event.seq, tries: tries + 1, failing_since }
  if (done.status === GONE || now >= expires) return bury(world, run, { ...told, entry }, tried, done)
  const [dice = 0] = world.ids.random(1)
  const { retry_after_ms } = done
  const due = retryAt({ tries: tried.tries, now, expires, retry_after_ms, dice: dice / 256 })
  await pause(world, run, told, { ...tried, due_at: new Date(due).toISOString() })
  world.log.info('a webhook was not taken', {
    ...factsOf(run, told, done),
    tries: tried.tries,
    due_at: new Date(due).toISOString(),
  })
}

/** The sweep comes no later than that. */
async function pause({ runs }: TellWorld, run: RunKey, { entry, head }: ToTell, to: EndpointEntry): Promise<void> {
  const { check_at } = head
  await runs.moveEntry(run, entry, to)
  if (to.due_at !== undefined && check_at !== undefined && check_at > to.due_at) {
    await runs.moveCheck(run, check_at, to.due_at)
  }
}

async function bury(
  { runs, clock, log }: TellWorld,
  run: RunKey,
  told: ToTell,
  { tries, failing_since }: { readonly tries: number; readonly failing_since: string },
  done: Failed,
): Promise<void> {
  const { endpoint, entry, head, event } = told
  const { status, reason, id } = done
  const last = { at: new Date(clock.now()).toISOString(), reason, ...(status === undefined ? {} : { status }) }
  const of = { id, endpoint: endpoint.name, run_id: run.run_id, seq: event.seq, type: event.type, event_at: event.at }
  await runs.buryWebhook(run.tenant, { ...of, tries, last })
  const isGone = status === GONE
  await runs.moveEntry(run, entry, isGone ? undefined : entryAfter(head, entry, event.seq, failing_since))
  // An error line is what an alarm looks at.
  log.error(isGone ? 'a webhook is gone for this run' : 'a webhook is dead', { ...factsOf(run, told, done), tries })
}

function factsOf({ run_id }: RunKey, { endpoint, event }: ToTell, { id, status, reason }: Failed) {
  return { run_id, endpoint: endpoint.name, id, seq: event.seq, status, reason }
}
