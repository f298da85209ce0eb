import * as z from 'zod'
import type { RunEvent } from '../../shared/runs/event.ts'
import type { Head } from '../../shared/runs/head.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import {
  type EndpointEntry,
  giveUpAt,
  isEndpointDue,
  nextEndpointEntry,
  retryAt,
  wantsEvent,
} from '../../shared/webhooks/endpoint-deliveries.ts'
import { type WebhookWork, webhookMessage } from '../../shared/webhooks/message.ts'
import type { Endpoint } from '../../shared/webhooks/settings.ts'
import type { World } from '../../shared/world.ts'
import { goneFault } from '../require-run.ts'
import type { Delivery, Telling } from './deliver.ts'
import { tellErasure } from './tell-erasure.ts'

const text = z.string().min(1)

/** What send-webhooks and send-bus-events are called with: one endpoint, so that nobody waits for an endpoint but it. */
export const WorkSchema = z.strictObject({ run: z.strictObject({ tenant: text, run_id: text }), endpoint: text })

/** One worker goes on so long; what is left then is the sweeper's. */
const WORK_MS = 60_000
const LONGER_MS = 10_000
/** What came in while this worker told the rest. */
const ROUNDS = 20
/** Steps of one turn, should HEAD change each time. */
const MOST_STEPS = 10_000
const PAGE = 100

/**
 * Tells one endpoint what it is owed of a run, in the order of the log and by one worker at a time. How far it came stands
 * in HEAD after each message, so that one is sent again only where a worker died in between.
 */
export async function tellEndpoint<E extends Endpoint>(
  world: TellWorld,
  work: WebhookWork,
  telling: Telling<E>,
): Promise<{ readonly told: number }> {
  const endpoint = telling.endpoints.find(({ name, tenant }) => name === work.endpoint && tenant === work.run.tenant)
  if ((await world.runs.head(work.run, [])) === undefined) return tellErasure(world, work, endpoint, telling)
  const of = { work, endpoint, ms: LONGER_MS + (endpoint === undefined ? 0 : telling.timeoutMs(endpoint)), telling }
  const turn = turnOf(world, of)
  const until = world.clock.now() + WORK_MS
  let told = 0
  for (let round = 0; round < ROUNDS && world.clock.now() < until; round += 1) {
    const now = await owed(world, work)
    if (now === undefined) return { told }
    if (!(await turn.take())) {
      await lookAgain(world, of, now)
      return { told }
    }
    told += await tellAll(world, of, { turn, until }).finally(turn.end)
    // Whoever came for a later event met this turn and went away: one more look, now that it is over.
  }
  return { told }
}

/** The work of one call. */
interface Told<E extends Endpoint> {
  readonly work: WebhookWork
  /** undefined = the settings do not name it any more. */
  readonly endpoint: E | undefined
  /** A turn outlasts the request it is taken for by ten seconds; who died keeps the others waiting no longer. */
  readonly ms: number
  readonly telling: Telling<E>
}

/** Whoever has the turn tells this too, or has died: the sweep comes when the turn is over. */
async function lookAgain<E extends Endpoint>(
  { runs, clock }: TellWorld,
  { work: { run }, ms }: Told<E>,
  { head }: Owed,
): Promise<void> {
  const over = new Date(clock.now() + ms).toISOString()
  if (head.check_at !== undefined && head.check_at > over) await runs.moveCheck(run, head.check_at, over)
}

interface Turn {
  /** Enough of it for one request: it is taken again when there is not. */
  take(): Promise<boolean>
  end(): Promise<void>
}

function turnOf<E extends Endpoint>({ runs, clock, ids }: TellWorld, { work: { run, endpoint }, ms }: Told<E>): Turn {
  const by = Buffer.from(ids.random(9)).toString('base64url')
  const name = { tenant: run.tenant, name: `webhook/${run.run_id}/${endpoint}` }
  let over = 0
  return {
    async take() {
      const now = clock.now()
      if (over - now > ms - LONGER_MS / 2) return true
      over = now + ms
      return runs.takeTurn(name, by, new Date(now).toISOString(), new Date(over).toISOString())
    },
    async end() {
      over = 0
      await runs.endTurn(name, by)
    },
  }
}

async function tellAll<E extends Endpoint>(
  world: TellWorld,
  of: Told<E>,
  { turn, until }: { readonly turn: Turn; readonly until: number },
): Promise<number> {
  let told = 0
  for (let steps = 0; steps < MOST_STEPS && world.clock.now() < until; steps += 1) {
    const now = await owed(world, of.work)
    if (now === undefined || !(await turn.take())) return told
    if (await step(world, of, now)) told += 1
  }
  return told
}

interface Owed {
  readonly head: Head
  readonly entry: EndpointEntry
}

async function owed({ runs, clock }: TellWorld, { run, endpoint }: WebhookWork): Promise<Owed | undefined> {
  const head = await runs.head(run, [])
  const { outbox: entries = [] } = head ?? {}
  const entry = entries.find((one): one is EndpointEntry => one.kind === 'endpoint' && one.endpoint === endpoint)
  if (head === undefined || entry === undefined || !isEndpointDue(head, entry, clock.now())) return undefined
  return { head, entry }
}

/** The next wanted event is told, or those that nobody wants are passed over. Whether one was told. */
async function step<E extends Endpoint>(
  world: TellWorld,
  { work, endpoint, telling }: Told<E>,
  { head, entry }: Owed,
): Promise<boolean> {
  const { runs, log } = world
  const { run } = work
  if (endpoint === undefined) {
    log.info('an endpoint the settings do not name any more is owed nothing', {
      run_id: run.run_id,
      endpoint: work.endpoint,
    })
    await runs.moveEntry(run, entry, undefined)
    return false
  }
  const events = await runs.events(run, entry.from_seq - 1, PAGE)
  const event = events.find(({ type }) => wantsEvent(endpoint, type))
  if (event !== undefined) return tellEvent(world, run, { endpoint, telling, entry, head, event })
  const passed = events.at(-1)?.seq ?? entry.from_seq - 1
  await runs.moveEntry(run, entry, nextEndpointEntry(head, entry, passed, entry.failing_since))
  return false
}

type TellWorld = Pick<World, 'runs' | 'clock' | 'ids' | 'log'>

/** One event that its endpoint wants, and where the run and the endpoint are. */
interface ToTell<E extends Endpoint = Endpoint> {
  readonly endpoint: E
  readonly entry: EndpointEntry
  readonly head: Head
  readonly event: RunEvent
}

/**
 * Sends one message, then notes in HEAD how it went: taken, to be tried again, or dead. Whether it was taken. A dead one
 * is stored before it is passed over; 410 ends what is owed to this endpoint of this run (docs/adr/0054).
 */
async function tellEvent<E extends Endpoint>(
  world: TellWorld,
  run: RunKey,
  { telling, ...told }: ToTell<E> & Pick<Told<E>, 'telling'>,
): Promise<boolean> {
  const { endpoint, entry, head, event } = told
  const meta = await world.runs.meta(run)
  if (meta === undefined) throw await goneFault(world, run, 'META')
  const message = webhookMessage(meta, event, endpoint)
  const done = await telling.deliver(endpoint, message, event)
  if (done.ok) await world.runs.moveEntry(run, entry, nextEndpointEntry(head, entry, event.seq))
  else await failed(world, run, told, { ...done, id: message.id })
  return done.ok
}

type Failed = Extract<Delivery, { readonly ok: false }> & { readonly id: string }

const GONE = 410

async function failed(world: TellWorld, run: RunKey, told: ToTell, done: Failed): Promise<void> {
  const { endpoint, entry, event } = told
  const now = world.clock.now()
  const { tries = 0, failing_since = new Date(now).toISOString() } = entry
  const expires = giveUpAt(event.at, failing_since, endpoint.give_up_sec)
  const tried = { ...entry, from_seq: event.seq, tries: tries + 1, failing_since }
  if (done.status === GONE || now >= expires) return bury(world, run, { ...told, entry }, tried, done)
  const [dice = 0] = world.ids.random(1)
  const { retry_after_ms } = done
  const due = retryAt({ tries: tried.tries, now, expires, retry_after_ms, dice: dice / 256 })
  await pause(world, run, told, { ...tried, due_at: new Date(due).toISOString() })
  world.log.info('an event was not taken', {
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
  await runs.moveEntry(run, entry, isGone ? undefined : nextEndpointEntry(head, entry, event.seq, failing_since))
  // An error line is what an alarm looks at.
  log.error(isGone ? 'an endpoint is gone for this run' : 'an event was given up', {
    ...factsOf(run, told, done),
    tries,
  })
}

function factsOf({ run_id }: RunKey, { endpoint, event }: ToTell, { id, status, reason }: Failed) {
  return { run_id, endpoint: endpoint.name, id, seq: event.seq, status, reason }
}
