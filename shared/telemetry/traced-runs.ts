import type { Append } from '../runs/append.ts'
import type { NewEvent, RunEvent } from '../runs/event.ts'
import { eventPlace } from '../runs/event-place.ts'
import { isRunEnd } from '../runs/is-run-end.ts'
import { readOrdinal } from '../runs/ordinal.ts'
import type { RunKey, RunStore } from '../runs/run-store.ts'
import { attemptSpan, type EndedAttempt, type RunEnd, runSpan } from './run-spans.ts'
import type { Span } from './span.ts'
import { type AttemptPlace, attemptSpanId } from './trace-ids.ts'

/** Beginnings that are remembered: what is forgotten, or began in another process, is read again. */
const MOST_REMEMBERED = 5_000
const PAGE = 1_000
/** Runs with more events than that leave out what they had not finished. */
const MOST_PAGES = 20

/**
 * The store, whose appends also tell of the attempts and runs they end: `told` gets their spans. Nobody waits for
 * that, since the beginning of an attempt may have to be read.
 */
export function tracedRuns(runs: RunStore, told: (spans: Promise<readonly Span[]>) => void): RunStore {
  const begun = new Map<string, number>()
  return {
    ...runs,
    async append(append) {
      const done = await runs.append(append)
      if (!done.ok) return done
      remember(begun, append)
      const ended = endedBy(append)
      if (ended.length > 0) told(Promise.all(ended.map((one) => finished(runs, begun, one))))
      const end = append.events.find(({ type }) => isRunEnd(type))
      // isRunEnd() found it: it has the data of an end.
      if (end !== undefined) told(wholeRun(runs, append, end as RunEnd))
      return done
    },
  }
}

function remember(begun: Map<string, number>, { run, at, ordinal, events }: Append): void {
  const start = events.find(({ type }) => type === 'block:started')
  if (start?.block_id === undefined) return
  if (begun.size >= MOST_REMEMBERED) begun.clear()
  begun.set(attemptSpanId(run.run_id, placeOf(start, start.block_id, ordinal)), Date.parse(at))
}

type Unfinished = Omit<EndedAttempt, 'began'>

const ENDS: Readonly<Partial<Record<NewEvent['type'], EndedAttempt['state']>>> = {
  'block:completed': 'completed',
  'block:failed': 'failed',
  'block:retrying': 'retrying',
  'block:cancelled': 'cancelled',
}

function endedBy({ run, at, ordinal, events, item_of }: Append): readonly Unfinished[] {
  return events.flatMap((event) => {
    const { type, block_id, data } = event
    const state = ENDS[type]
    if (state === undefined || block_id === undefined) return []
    const place = placeOf(event, block_id, ordinal)
    // Refused or stopped before any attempt: there is nothing to show.
    if (place.attempt === 0) return []
    const code = 'code' in data ? { code: data.code } : {}
    return [{ run, place, ...ofBlock(place, item_of), ended: Date.parse(at), state, ...code }]
  })
}

/** `below` is the end of the attempt of the block whose item this is. */
function ofBlock({ block_id }: AttemptPlace, item_of: Append['item_of']): Pick<EndedAttempt, 'of'> {
  if (item_of === undefined) return {}
  const { epoch, attempt } = readOrdinal(item_of.below)
  return { of: { block_id, epoch, attempt } }
}

function placeOf({ item, attempt }: NewEvent, block_id: string, ordinal: number): AttemptPlace {
  const place = readOrdinal(ordinal)
  return { block_id, item, epoch: place.epoch, attempt: attempt ?? place.attempt }
}

async function finished(runs: RunStore, begun: Map<string, number>, ended: Unfinished): Promise<Span> {
  const id = attemptSpanId(ended.run.run_id, ended.place)
  const known = begun.get(id)
  begun.delete(id)
  return attemptSpan({ ...ended, began: known ?? (await startOf(runs, ended.run, id)) ?? ended.ended })
}

async function startOf(runs: RunStore, run: RunKey, id: string): Promise<number | undefined> {
  for await (const event of eventsOf(runs, run)) {
    if (event.type !== 'block:started' || event.block_id === undefined) continue
    if (attemptSpanId(run.run_id, { block_id: event.block_id, ...eventPlace(event) }) === id)
      return Date.parse(event.at)
  }
  return undefined
}

/** The run's own span, and those of attempts that its end cut off: they have no event of their own. */
async function wholeRun(runs: RunStore, { run, at }: Append, end: RunEnd): Promise<readonly Span[]> {
  const ended = Date.parse(at)
  const meta = await runs.meta(run)
  const own = meta === undefined ? [] : [runSpan(meta, end, ended)]
  return end.type === 'run:completed' ? own : [...own, ...(await cutOff(runs, run, ended))]
}

async function cutOff(runs: RunStore, run: RunKey, ended: number): Promise<readonly Span[]> {
  const open = new Map<string, { readonly place: AttemptPlace; readonly began: number }>()
  /** The running attempt of each block, of which items are. */
  const blocks = new Map<string, AttemptPlace>()
  for await (const event of eventsOf(runs, run)) {
    if (event.block_id === undefined) continue
    const place = { block_id: event.block_id, ...eventPlace(event) }
    const id = attemptSpanId(run.run_id, place)
    if (event.type === 'block:started') open.set(id, { place, began: Date.parse(event.at) })
    if (event.type === 'block:started' && place.item === undefined) blocks.set(place.block_id, place)
    if (ENDS[event.type] !== undefined) open.delete(id)
  }
  return [...open.values()].map(({ place, began }) => {
    const block = place.item === undefined ? undefined : blocks.get(place.block_id)
    const of = block === undefined ? {} : { of: block }
    return attemptSpan({ run, place, ...of, began, ended, state: 'cancelled' })
  })
}

async function* eventsOf(runs: RunStore, run: RunKey): AsyncGenerator<RunEvent> {
  let since = 0
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const events = await runs.events(run, since, PAGE)
    yield* events
    since = events.at(-1)?.seq ?? since
    if (events.length < PAGE) return
  }
}
