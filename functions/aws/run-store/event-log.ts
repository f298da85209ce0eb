import { Fault } from '../../../shared/errors.ts'
import { RUN_TABLE } from '../../../shared/runs/dynamodb-table.ts'
import type { NewEvent, RunEvent } from '../../../shared/runs/event.ts'
import { hashAfter } from '../../../shared/runs/hash-chain.ts'
import type { Append, RunKey, RunStore } from '../../../shared/runs/run-store.ts'
import { pageEntries, readPage, tailName } from './event-encoding.ts'
import { headKey, readHead, type StoredHead } from './head.ts'
import { as, from, type Item, itemKey, itemTtl, pageSk } from './item-encoding.ts'
import { packable, packingChange } from './lanes.ts'
import type { RunTable } from './table.ts'

/**
 * The event log of a run: HEAD first, then the pages up to the base it names, then its tail; the other order loses
 * events that are spilled in between (docs/architecture.md, "What an append writes").
 */
export function eventLogOn(table: RunTable): Pick<RunStore, 'events' | 'sealed'> {
  return {
    async events(run, since, limit) {
      const item = await table.get(headKey(run), { only: TAIL })
      if (item === undefined) return []
      const { base, tail, head } = readHead(item)
      const until = Math.min(head.seq, since + limit)
      const paged = since < base ? await readPages(table, run, { since, until: Math.min(base, until), base }) : []
      const kept = until <= base ? [] : tail().slice(Math.max(0, since - base), Math.max(0, until - base))
      return [...paged, ...readEvents(kept, Math.max(since, base), run.run_id)]
    },
    async sealed(run) {
      const item = await table.get(headKey(run), { only: [['base'], ['base_hash']] })
      return item === undefined ? undefined : { seq: from.number(item, 'base'), hash: from.text(item, 'base_hash') }
    },
  }
}

const TAIL = ['v', 'state', 'base', 'base_hash', 'tail', 'log', 'deadline_at'].map((name) => [name])

interface Span {
  readonly since: number
  readonly until: number
  /** That of the HEAD that was read: no page that counts ends past it. */
  readonly base: number
}

/** Events since+1..until, all of them spilled. Pages of losers begin like the winner's and are skipped over. */
async function readPages(table: RunTable, run: RunKey, { since, until, base }: Span): Promise<readonly RunEvent[]> {
  const events: RunEvent[] = []
  const { pk = as.text('') } = itemKey(run, '')
  while (since + events.length < until) {
    const next = since + events.length + 1
    const pages = await table.query({
      where: ({ path, value }) => ({
        condition: `${path(RUN_TABLE.hash)} = ${value(pk)} AND ${path(RUN_TABLE.range)} BETWEEN ${value(as.text(pageSk(next)))} AND ${value(as.text(pageSk(base)))}`,
      }),
      limit: Math.min(MAX_PAGES, Math.ceil((until - next) / 8) + 1),
    })
    for (const page of pages.items) events.push(...pageEvents(page, run.run_id, since + events.length, until))
    if (since + events.length < next) throw gap(run, next)
  }
  return events
}

const MAX_PAGES = 100

function pageEvents(page: Item, run_id: string, after: number, until: number): readonly RunEvent[] {
  const base = from.number(page, 'base')
  if (base > after) return []
  const texts = readPage(page).slice(after - base, Math.max(0, until - base))
  return readEvents(texts, after, run_id)
}

function gap({ run_id }: RunKey, seq: number): Fault {
  return new Fault('Bug', 'log_gap', `Cannot read event ${seq} of run "${run_id}": no page has it though HEAD says so.`)
}

const MAX_EVENTS = 24
const MAX_BYTES = 8_192

/**
 * The events of one append as HEAD and pages keep them, one JSON text each: id, time, the event; seq is their place.
 * The first begins with the append's nonce of 8 characters, `w`, by which its writer knows it again. Fault Bug append_too_large past 24
 * events or 8 KiB of UTF-8 JSON together, append_empty without any.
 */
export function eventTexts(
  { lane, ordinal, at, events }: Pick<Append, 'lane' | 'ordinal' | 'at' | 'events'>,
  nonce: string,
): readonly string[] {
  requireSize(events)
  return events.map((event, i) => {
    const mark = i === 0 ? { w: nonce } : {}
    return JSON.stringify({ ...mark, id: `${lane}/${ordinal}/${i}`, at, ...event })
  })
}

/** Where a step (its lane and ordinal) begins in a tail or page, and the nonce of the append that took it. */
export function findStep(
  texts: readonly string[],
  { lane, ordinal }: Pick<Append, 'lane' | 'ordinal'>,
): { readonly index: number; readonly nonce: string } | undefined {
  const id = `","id":${JSON.stringify(`${lane}/${ordinal}/0`)},`
  const index = texts.findIndex((text) => text.startsWith(MARK) && text.startsWith(id, MARK.length + NONCE_CHARS))
  const text = texts[index]
  return text === undefined ? undefined : { index, nonce: text.slice(MARK.length, MARK.length + NONCE_CHARS) }
}

const MARK = '{"w":"'
const NONCE_CHARS = 8

/** The stored events after `base`, as readers get them. */
function readEvents(texts: readonly string[], base: number, run_id: string): readonly RunEvent[] {
  return texts.map((text, i) => {
    const { w: _nonce, id, at, ...event } = JSON.parse(text)
    return { seq: base + i + 1, id, run_id, at, ...event }
  })
}

function requireSize(events: readonly NewEvent[]): void {
  if (events.length === 0) {
    throw new Fault('Bug', 'append_empty', 'Cannot append to a run: there is no event in it, an append has 1 to 24.')
  }
  const bytes = events.reduce((sum, event) => sum + Buffer.byteLength(JSON.stringify(event)), 0)
  if (events.length <= MAX_EVENTS && bytes <= MAX_BYTES) return
  const message = `Cannot append ${events.length} events of ${bytes} bytes to a run (first: ${events[0]?.type}): at most ${MAX_EVENTS} events and ${MAX_BYTES} bytes an append. Store bodies as objects and name them by ref.`
  throw new Fault('Bug', 'append_too_large', message, { facts: { events: events.length, bytes } })
}

/**
 * Moves the tail into a page: first the page, keyed by its LAST seq, then the trim, while base is as it was
 * (docs/architecture.md, "What an append writes"): what was appended since stays. Whoever loses leaves a page that begins
 * like the winner's: what a page says depends on (base, n) only. The hash chain is closed here, where the order is known,
 * and lanes are packed.
 */
export async function spill(table: RunTable, run: RunKey, seen: StoredHead): Promise<void> {
  const { layout, base, base_hash, waiting: n } = seen
  if (n === 0) return
  const texts = seen.tail()
  await table.put({
    ...itemKey(run, pageSk(base + n)),
    base: as.number(base),
    n: as.number(n),
    events: pageEntries(texts, layout),
    ttl: itemTtl(table),
  })
  const hash = hashAfter(readEvents(texts, base, run.run_id), base_hash)
  await table.update(headKey(run), (terms) => {
    const { path, value } = terms
    const packing = packingChange(terms, layout === 1 ? { groups: [], lanes: [] } : packable(seen))
    const list = path(tailName(layout))
    // DynamoDB takes every place as it was before the update; an emulator goes one by one, so the last comes first.
    const removes = [...texts.map((_, i) => `${list}[${n - 1 - i}]`), ...packing.removes]
    const adds = packing.adds.length === 0 ? '' : ` ADD ${packing.adds.join(', ')}`
    return {
      update: `SET ${path('base')} = ${value(as.number(base + n))}, ${path('base_hash')} = ${value(as.text(hash))} REMOVE ${removes.join(', ')}${adds}`,
      condition: [`${path('base')} = ${value(as.number(base))}`, ...packing.guards].join(' AND '),
    }
  })
}
