import { Fault } from '../../../shared/errors.ts'
import type { RunEvent } from '../../../shared/runs/event.ts'
import type { RunKey, RunStore } from '../../../shared/runs/run-store.ts'
import { RUN_TABLE } from '../../../shared/runs/table.ts'
import { as, from, type Item } from './attribute-values.ts'
import { eventsOf } from './event-texts.ts'
import { headKey, readHead } from './head-item.ts'
import { itemKey, pageSk } from './item-keys.ts'
import type { RunTable } from './run-table.ts'

/**
 * The event log of a run: HEAD first, then the pages up to the base it names, then its tail; the other order loses
 * events that are spilled in between (docs/architecture.md, "What an append writes").
 */
export function logOf(table: RunTable): Pick<RunStore, 'events' | 'sealed'> {
  return {
    async events(run, since, limit) {
      const item = await table.get(headKey(run), { only: TAIL })
      if (item === undefined) return []
      const { base, tail, head } = readHead(item)
      const until = Math.min(head.seq, since + limit)
      const paged = since < base ? await readPages(table, run, { since, until: Math.min(base, until), base }) : []
      const kept = tail.slice(Math.max(0, since - base), Math.max(0, until - base))
      return [...paged, ...eventsOf(kept, Math.max(since, base), run.run_id)]
    },
    async sealed(run) {
      const item = await table.get(headKey(run), { only: [['base'], ['base_hash']] })
      return item === undefined ? undefined : { seq: from.number(item, 'base'), hash: from.text(item, 'base_hash') }
    },
  }
}

const TAIL = ['state', 'base', 'base_hash', 'tail', 'deadline_at'].map((name) => [name])

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
  const texts = from.list(page, 'events').slice(after - base, Math.max(0, until - base))
  return eventsOf(texts, after, run_id)
}

function gap({ run_id }: RunKey, seq: number): Fault {
  return new Fault('Bug', 'log_gap', `Cannot read event ${seq} of run "${run_id}": no page has it though HEAD says so.`)
}
