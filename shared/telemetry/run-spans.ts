import type { EventData, NewEvent, RunEvent } from '../runs/event.ts'
import { isRunEnd } from '../runs/event-types.ts'
import { readOrdinal } from '../runs/lane.ts'
import { eventPosition } from '../runs/run-fold.ts'
import type { Append, Meta, RunKey, RunStore } from '../runs/run-store.ts'
import { cutOffSpan, type WorkSpanOptions, workSpan } from './agent-spans.ts'
import type { Span } from './otlp-spans.ts'
import { type AttemptPosition, attemptSpanId, runSpanId, runTraceId } from './span-ids.ts'

/** Beginnings that are remembered: what is forgotten, or began in another process, is read again. */
const MOST_REMEMBERED = 5_000
const PAGE = 1_000
/** Runs with more events than that leave out what they had not finished. */
const MOST_PAGES = 20

/**
 * The store, whose appends also tell of the attempts and runs they end: `told` gets their spans. Nobody waits for
 * that, since the beginning of an attempt may have to be read.
 */
export function tracedRuns(
  runs: RunStore,
  options: WorkSpanOptions,
  told: (spans: Promise<readonly Span[]>) => void,
): RunStore {
  const begun = new Map<string, number>()
  return {
    ...runs,
    async append(append) {
      const done = await runs.append(append)
      if (!done.ok) return done
      remember(begun, append)
      const ended = endedBy(append)
      const spanOf = async (one: Unfinished) => workSpan(await finished(runs, begun, one), append.work, options)
      if (ended.length > 0) told(Promise.all(ended.map(spanOf)))
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
  begun.set(attemptSpanId(run.run_id, positionIn(start, start.block_id, ordinal)), Date.parse(at))
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
    const place = positionIn(event, block_id, ordinal)
    // Refused or stopped before any attempt: there is nothing to show.
    if (place.attempt === 0) return []
    const code = 'code' in data ? { code: data.code } : {}
    return [{ run, place, ...ofBlock(place, item_of), ended: Date.parse(at), state, ...code }]
  })
}

/** `below` is the end of the attempt of the block whose item this is. */
function ofBlock({ block_id }: AttemptPosition, item_of: Append['item_of']): Pick<EndedAttempt, 'of'> {
  if (item_of === undefined) return {}
  const { epoch, attempt } = readOrdinal(item_of.below)
  return { of: { block_id, epoch, attempt } }
}

function positionIn({ item, attempt }: NewEvent, block_id: string, ordinal: number): AttemptPosition {
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
    if (attemptSpanId(run.run_id, { block_id: event.block_id, ...eventPosition(event) }) === id)
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
  const open = new Map<string, OpenAttempt>()
  /** The running attempt of each block, of which items are. */
  const blocks = new Map<string, AttemptPosition>()
  for await (const event of eventsOf(runs, run)) {
    if (event.block_id === undefined) continue
    const place = { block_id: event.block_id, ...eventPosition(event) }
    const id = attemptSpanId(run.run_id, place)
    if (event.type === 'block:started') open.set(id, { place, began: Date.parse(event.at), data: event.data })
    if (event.type === 'block:started' && place.item === undefined) blocks.set(place.block_id, place)
    if (ENDS[event.type] !== undefined) open.delete(id)
  }
  return [...open.values()].map(({ place, began, data }) => {
    const block = place.item === undefined ? undefined : blocks.get(place.block_id)
    const of = block === undefined ? {} : { of: block }
    const span = attemptSpan({ run, place, ...of, began, ended, state: 'cancelled' })
    return cutOffSpan(span, place.block_id, data)
  })
}

interface OpenAttempt {
  readonly place: AttemptPosition
  readonly began: number
  readonly data: EventData<'block:started'>
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

/** An attempt that is over, as the log tells of it. */
interface EndedAttempt {
  readonly run: RunKey
  readonly place: AttemptPosition
  /** Of an item: the attempt of its block. */
  readonly of?: AttemptPosition
  /** ms since 1970. */
  readonly began: number
  readonly ended: number
  readonly state: 'completed' | 'failed' | 'retrying' | 'cancelled'
  /** Why it did not complete (docs/errors.md). */
  readonly code?: string
}

/** One span an attempt, below its run; of an item below its block's attempt. */
function attemptSpan({ run, place, of, began, ended, state, code }: EndedAttempt): Span {
  const { run_id, tenant } = run
  const { block_id, item, attempt, epoch } = place
  return {
    trace_id: runTraceId(run_id),
    span_id: attemptSpanId(run_id, place),
    parent_span_id: of === undefined ? runSpanId(run_id) : attemptSpanId(run_id, of),
    name: `block ${block_id}`,
    kind: 'internal',
    began,
    ended,
    attributes: {
      'sluice.run_id': run_id,
      'sluice.tenant': tenant,
      'sluice.block': block_id,
      'sluice.item': item,
      'sluice.attempt': attempt,
      'sluice.epoch': epoch,
      'sluice.state': state,
      'error.type': code,
    },
    failed: state === 'failed' || state === 'retrying',
    links: [],
  }
}

/** How a run ended. */
type RunEnd = Extract<NewEvent, { readonly type: `run:${string}`; readonly data: { readonly code: string } }>

/** The span of the whole run. A child has a trace of its own, linked to the attempt that waits for it. */
function runSpan(meta: Meta, end: RunEnd, ended: number): Span {
  const { run_id, tenant, dag_name, dag_hash, parent, kind, created_at } = meta
  const state = end.type.slice('run:'.length)
  const isFailed = state === 'failed'
  return {
    trace_id: runTraceId(run_id),
    span_id: runSpanId(run_id),
    name: `invoke_workflow ${dag_name}`,
    kind: 'internal',
    began: Date.parse(created_at),
    ended,
    attributes: {
      'gen_ai.operation.name': 'invoke_workflow',
      'gen_ai.workflow.name': dag_name,
      'sluice.run_id': run_id,
      'sluice.tenant': tenant,
      'sluice.kind': kind ?? 'dag',
      'sluice.dag_hash': dag_hash,
      'sluice.state': state,
      'sluice.code': end.data.code,
      'error.type': isFailed ? end.data.code : undefined,
      'sluice.usage.tokens': end.data.spent?.tokens,
      'sluice.usage.usd': end.data.spent === undefined ? undefined : end.data.spent.usd_micros / 1_000_000,
    },
    failed: isFailed,
    links:
      parent === undefined
        ? []
        : [{ trace_id: runTraceId(parent.run_id), span_id: attemptSpanId(parent.run_id, parent) }],
  }
}
