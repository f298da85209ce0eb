import { type BlockDelta, RUN_ROUTES } from '../../shared/api/run-routes.ts'
import { type Principal, principalName } from '../../shared/auth/principal.ts'
import { Fault } from '../../shared/errors.ts'
import type { LiveText } from '../../shared/ports/live.ts'
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
    return { body: withSlots(streamText(world, run, since, call.signal), slots), media_type: SCHEMA.media_type }
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
 * Events after the cursor, then new ones as they come, and between them what models say meanwhile. Waiting begins before
 * reading, so that an event stored between the two is not slept over. Ends after the terminal event, or after five minutes with the id to go on from: a reader that
 * was sent no event yet comes again with that.
 */
async function* streamText(world: World, run: RunKey, after: number, signal: AbortSignal): AsyncGenerator<string> {
  const end = world.clock.now() + STREAM_MS
  const news = openNews(world.live, run)
  let since = after
  let beat = world.clock.now() + HEARTBEAT_MS
  yield `retry: ${RETRY_MS}\n\n`
  while (world.clock.now() < end) {
    const last = yield* nextEvents(world, { run, since, news, ms: beat - world.clock.now(), signal })
    if (last !== undefined && isRunEnd(last.type)) return
    since = last?.seq ?? since
    const now = world.clock.now()
    const isQuiet = last === undefined && now >= beat
    if (isQuiet) yield ': heartbeat\n\n'
    if (isQuiet || last !== undefined) beat = now + HEARTBEAT_MS
    await world.clock.turn?.()
  }
  yield `: goes on after this id\nid: ${since}\nretry: ${RETRY_MS}\n\n`
}

interface Reader {
  readonly run: RunKey
  readonly since: number
  readonly news: () => Promise<string>
  readonly ms: number
  readonly signal: AbortSignal
}

/** A reason given is a DOMException not made, at each event. */
const TOLD = new Error('told')

/** A page of events; where there is none, what is said until there may be. Answers the last of them. */
async function* nextEvents(world: World, reader: Reader): AsyncGenerator<string, RunEvent | undefined> {
  const { run, since, ms } = reader
  const waiting = new AbortController()
  const signal = AbortSignal.any([reader.signal, waiting.signal])
  const changed = world.waker.changed(run, ms, signal)
  changed.catch(() => {})
  try {
    const events = await world.runs.events(run, since, PAGE)
    if (events.length > 0) yield events.map(messageOf).join('')
    else yield* wordsUntil(world, { ...reader, changed, signal })
    return events.at(-1)
  } finally {
    waiting.abort(TOLD)
  }
}

interface Listening extends Reader {
  readonly changed: Promise<void>
}

/** Words that come so soon after others are told with them. */
const WORDS_MS = 50

/** What models say, as they say it, until the run changes. Nothing is kept for who reads slowly: they are told the rest later. */
async function* wordsUntil({ live, clock }: World, listening: Listening): AsyncGenerator<string> {
  const { run, news, changed, signal } = listening
  if (live === undefined) return await changed
  const moved = changed.then(() => 'events' as const)
  for (;;) {
    const said = live.said(run, signal).then(() => 'words' as const)
    const words = await news()
    if (words !== '') yield words
    if ((await Promise.race([moved, said])) === 'events') return
    if (words !== '') await clock.delay(WORDS_MS)
  }
}

/** Answers what was said since it was asked last, as messages; no words, no message. */
function openNews(live: World['live'], run: RunKey): () => Promise<string> {
  const told = new Map<string, LiveText>()
  return async () => {
    const heard = (await live?.heard(run)) ?? []
    const messages = heard.flatMap((now) => {
      const before = told.get(now.lane)
      told.set(now.lane, now)
      return deltaOf(now, before)
    })
    return messages.map((delta) => `event: block:delta\ndata: ${JSON.stringify(delta)}\n\n`).join('')
  }
}

/** It has no seq and no id: whoever comes again comes for events. */
function deltaOf({ lane: _, ...now }: LiveText, before: LiveText | undefined): readonly BlockDelta[] {
  const isSame = before?.epoch === now.epoch && before.attempt === now.attempt && before.question === now.question
  const upTo = isSame ? before.from + before.text.length : 0
  const from = Math.max(now.from, upTo)
  const text = now.text.slice(from - now.from)
  return text === '' ? [] : [{ type: 'block:delta', ...now, from, text }]
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
