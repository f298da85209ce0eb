import { RUN_ROUTES } from '../../shared/api/run-routes.ts'
import { type Principal, principalName } from '../../shared/auth/principal.ts'
import { Fault } from '../../shared/errors.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import { isRunEnd } from '../../shared/runs/event-types.ts'
import type { LeasePool, RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { type Call, httpHandler } from '../http-handler.ts'
import { requireRun } from '../require-run.ts'
import { cursorAheadFault } from './cursor-ahead.ts'

const SCHEMA = RUN_ROUTES['stream-events']

/** A finished run that has nothing new is 204, which tells a browser not to come again. */
export const handler = httpHandler({
  name: 'stream-events',
  schema: SCHEMA,
  run: async (call, world) => {
    const since = cursorOf(call)
    const { run, head } = await requireRun(world, call)
    if (since > head.seq) throw cursorAheadFault(since, head.seq)
    if (since === head.seq && head.state !== 'running') return { status: 204, body: '', media_type: SCHEMA.media_type }
    const slots = await takeStreamSlots(world, call.principal)
    return { body: withSlots(eventText(world, run, since, call.signal), slots), media_type: SCHEMA.media_type }
  },
})

const HEARTBEAT_MS = 15_000
const RETRY_MS = 1_000
/** Also the most text that is held for a slow client: the next page is read when this one has been taken. */
const PAGE = 100

function cursorOf({ headers, query }: Call<typeof SCHEMA>): number {
  const last = headers['last-event-id']
  if (last === undefined || last === '') return query.since
  if (/^\d{1,9}$/.test(last)) return Number(last)
  const message = `Cannot resume after Last-Event-ID "${last.slice(0, 100)}": it must be the id of an event, a whole number.`
  throw new Fault('InvalidInput', 'bad_cursor', message)
}

/** The same text; its slots are given back however it ends. */
async function* withSlots(text: AsyncIterable<string>, slots: StreamSlots): AsyncGenerator<string> {
  try {
    yield* text
  } finally {
    await slots.end()
  }
}

/**
 * Events after the cursor, then new ones as they come. Waiting begins before reading, so that an event stored between
 * the two is not slept over. Ends after the terminal event, or after five minutes with the id to go on from: a reader that
 * was sent no event yet comes again with that.
 */
async function* eventText(world: World, run: RunKey, after: number, signal: AbortSignal): AsyncGenerator<string> {
  const end = world.clock.now() + STREAM_MS
  let since = after
  let beat = world.clock.now() + HEARTBEAT_MS
  yield `retry: ${RETRY_MS}\n\n`
  while (world.clock.now() < end) {
    const waiting = new AbortController()
    const changed = world.waker.changed(run, beat - world.clock.now(), AbortSignal.any([signal, waiting.signal]))
    changed.catch(() => {})
    const events = await world.runs.events(run, since, PAGE)
    const last = events.at(-1)
    if (last === undefined) await changed
    else waiting.abort()
    if (last !== undefined) yield events.map(messageOf).join('')
    if (last !== undefined && isRunEnd(last.type)) return
    since = last?.seq ?? since
    const now = world.clock.now()
    if (last === undefined && now >= beat) yield ': heartbeat\n\n'
    if (last !== undefined || now >= beat) beat = now + HEARTBEAT_MS
  }
  yield `: goes on after this id\nid: ${since}\nretry: ${RETRY_MS}\n\n`
}

function messageOf(event: RunEvent): string {
  return `id: ${event.seq}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
}

/** A stream ends after this long, and its reader comes again: whoever holds slots has to ask for them anew. */
const STREAM_MS = 300_000
/** Longer than any stream is open: one whose function died gives its slots back by then. */
const LEASE_MS = STREAM_MS + 30_000
/** When a refused reader may come again; streams of runs that end make room before. */
const RETRY_AFTER_MS = 15_000

type SlotWorld = Pick<World, 'runs' | 'settings' | 'clock' | 'ids' | 'log'>

/** Slots among the open streams of a caller and of its tenant. */
interface StreamSlots {
  /** Gives them back, once. */
  end(): Promise<void>
}

/**
 * Takes a slot among the streams of the caller, then among those of the tenant: each stream keeps a function busy, or a
 * connection, for as long as it is open. Full: Fault LimitExceeded too_many_streams.
 */
async function takeStreamSlots(world: SlotWorld, principal: Principal): Promise<StreamSlots> {
  const { tenant } = principal
  const caller = principalName(principal)
  const { max_streams, max_streams_per_caller } = world.settings.safety
  const holder = `${world.ids.boot}/${Buffer.from(world.ids.random(9)).toString('base64url')}`
  const mine = { tenant, name: `streams/${caller}` }
  const all = { tenant, name: 'streams' }
  if (!(await takeSlot(world, mine, holder, max_streams_per_caller))) {
    throw tooMany(`Caller "${caller}" has`, { caller, max_streams_per_caller })
  }
  if (await takeSlot(world, all, holder, max_streams)) return slotsIn(world, [mine, all], holder)
  await slotsIn(world, [mine], holder).end()
  throw tooMany(`Tenant "${tenant}" has`, { tenant, max_streams })
}

/** Those whose time is over make room first. */
async function takeSlot({ runs, clock }: SlotWorld, pool: LeasePool, holder: string, cap: number): Promise<boolean> {
  const take = () => runs.takeLease(pool, holder, new Date(clock.now() + LEASE_MS).toISOString(), cap)
  if (await take()) return true
  const over = Object.entries(await runs.leases(pool)).filter(([, end]) => Date.parse(end) <= clock.now())
  for (const [one, end] of over) await runs.dropLease(pool, one, end)
  return over.length > 0 && take()
}

/** Not giving one back is no failure of the stream: it ends by itself. */
function slotsIn({ runs, log }: SlotWorld, pools: readonly LeasePool[], holder: string): StreamSlots {
  return {
    async end() {
      for (const pool of pools) {
        await runs.dropLease(pool, holder).catch((error: unknown) => {
          log.error('a slot of a stream could not be given back', { pool: pool.name, error: String(error) })
        })
      }
    },
  }
}

function tooMany(who: string, facts: Readonly<Record<string, string | number>>): Fault {
  const [name = '', cap] = Object.entries(facts).at(-1) ?? []
  const message = `Cannot open another stream of events: ${who} ${cap} open, as many as the safety policy allows (${name}). Close one, or read on with GET /api/dag/runs/{run_id}/replay?since=N.`
  return new Fault('LimitExceeded', 'too_many_streams', message, {
    facts: { ...facts, retry_after_ms: RETRY_AFTER_MS },
  })
}
