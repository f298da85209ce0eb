import { RUN_ROUTES } from '../../shared/api/run-routes.ts'
import { Fault } from '../../shared/errors.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import { isRunEnd } from '../../shared/runs/is-run-end.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { type Call, httpHandler } from '../http-handler.ts'
import { requireRun } from '../require-run.ts'
import { aheadOfHead } from './ahead-of-head.ts'
import { STREAM_MS, type StreamPlaces, takeStreamPlaces } from './stream-places.ts'

const SCHEMA = RUN_ROUTES['stream-events']

/** A finished run that has nothing new is 204, which tells a browser not to come again. */
export const handler = httpHandler({
  name: 'stream-events',
  schema: SCHEMA,
  run: async (call, world) => {
    const since = cursorOf(call)
    const { run, head } = await requireRun(world, call)
    if (since > head.seq) throw aheadOfHead(since, head.seq)
    if (since === head.seq && head.state !== 'running') return { status: 204, body: '', media_type: SCHEMA.media_type }
    const places = await takeStreamPlaces(world, call.principal)
    return { body: placed(eventText(world, run, since, call.signal), places), media_type: SCHEMA.media_type }
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

/** The same text; its places are given back however it ends. */
async function* placed(text: AsyncIterable<string>, places: StreamPlaces): AsyncGenerator<string> {
  try {
    yield* text
  } finally {
    await places.end()
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
