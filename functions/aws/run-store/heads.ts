import type { Head } from '../../../shared/runs/head.ts'
import type { RunKey, RunStore } from '../../../shared/runs/run-store.ts'
import { as, type Item } from './attribute-values.ts'
import { headKey, readHead } from './head-item.ts'
import { itemKey } from './item-keys.ts'
import { lanePath } from './lane-path.ts'
import type { RunTable } from './run-table.ts'
import { spill } from './spill.ts'
import { createTerms } from './terms.ts'
import { keepItem } from './time-to-live.ts'

/** HEAD as readers see it, the outbox's other end, and the STOP mark. */
export function headsOf(
  table: RunTable,
): Pick<RunStore, 'head' | 'settleOutbox' | 'moveEntry' | 'moveCheck' | 'putStop' | 'stopped'> {
  return {
    async head(run, lanes) {
      const item = await table.get(headKey(run), { first: REST, only: lanePaths(lanes) })
      if (item === undefined) return undefined
      const { head } = readHead(item)
      return lanes === undefined ? head : { ...head, lanes: pick(head.lanes, lanes) }
    },
    async settleOutbox(run, ids) {
      if (ids.length === 0) return
      await table.update(headKey(run), ({ path }) => ({
        update: `REMOVE ${[...new Set(ids)].map((id) => path('outbox', id)).join(', ')}`,
        condition: `attribute_exists(${path('outbox')})`,
      }))
    },
    // What was read is written back as the same text.
    async moveEntry(run, was, to) {
      const moved = await table.update(headKey(run), ({ path, value }) => {
        const entry = path('outbox', was.id)
        return {
          update: to === undefined ? `REMOVE ${entry}` : `SET ${entry} = ${value(as.json(to))}`,
          condition: `${entry} = ${value(as.json(was))}`,
        }
      })
      return moved.ok
    },
    async moveCheck(run, was, to) {
      if (to === undefined) await spillRest(table, run)
      await table.update(headKey(run), ({ path, value }) => ({
        update: to === undefined ? `REMOVE ${path('check_at')}` : `SET ${path('check_at')} = ${value(as.text(to))}`,
        condition: `${path('check_at')} = ${value(as.text(was))}`,
      }))
    },
    async putStop(run, block) {
      await table.put({ ...stopKey(run, block), ttl: keepItem(table) })
    },
    // Asked each half second while a dispatch runs: the cheaper read, a moment behind, is what decisions ask for.
    async stopped(run, block) {
      const keys = [stopKey(run), ...(block === undefined ? [] : [stopKey(run, block)])]
      const marks = await Promise.all(keys.map((key) => table.get(key, { stale: true })))
      return marks.some((mark) => mark !== undefined)
    },
  }
}

function stopKey(run: RunKey, block?: number): Item {
  return itemKey(run, block === undefined ? 'STOP' : `STOP#${block}`)
}

/** Before the last look at a run that ended: what the writer of its end had no time to spill. */
async function spillRest(table: RunTable, run: RunKey): Promise<void> {
  const item = await table.get(headKey(run))
  const stored = item === undefined ? undefined : readHead(item)
  if (stored !== undefined && stored.head.state !== 'running') await spill(table, run, stored)
}

/** All but the lanes: the same in every read of HEAD. */
const REST = once(
  'state base base_hash tail running approvals modules children deadline_at check_at outbox queued ended',
  'cap_tokens cap_usd_micros room_tokens room_usd_micros spent_tokens spent_usd_micros unpriced_tokens stored_bytes',
)

function once(...names: readonly string[]) {
  const terms = createTerms()
  return { terms, text: names.flatMap((line) => line.split(' ').map((name) => terms.path(name))).join(', ') }
}

/** An expression has at most 4 KB: who names more lanes reads them all. */
const MAX_NAMED = 100

function lanePaths(lanes: readonly string[] | undefined): readonly (readonly string[])[] {
  if (lanes === undefined || lanes.length > MAX_NAMED) return [['lanes'], ['items']]
  return [...new Set(lanes)].map(lanePath)
}

function pick(lanes: Head['lanes'], names: readonly string[]): Head['lanes'] {
  const named = new Set(names)
  return Object.fromEntries(Object.entries(lanes).filter(([lane]) => named.has(lane)))
}
