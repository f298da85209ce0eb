import type { NewRun, RunKey, RunStore } from '../../../shared/runs/run-store.ts'
import { as, from, type Item } from './attribute-values.ts'
import { type Birth, headItem, metaItem } from './birth.ts'
import { eventTexts } from './event-texts.ts'
import { headKey } from './head-item.ts'
import { itemKey } from './item-keys.ts'
import type { RunTable } from './run-table.ts'
import { ifAbsent } from './table-writes.ts'
import { keepBirth, keepItem } from './time-to-live.ts'

/**
 * Creates a run without a transaction: CTX, put if absent, decides what the run is; META and HEAD follow from it, and
 * with HEAD the run is there. A create that stops in between leaves nothing anybody sees; the next one of the same id
 * goes on with what the first decided.
 */
export function runsOf(table: RunTable): Pick<RunStore, 'create' | 'meta' | 'parentTokens'> {
  return {
    async create(run) {
      const nonce = table.nonce()
      const { parent_token, ...rest } = run
      if (parent_token !== undefined) await addParentToken(table, run.meta, parent_token)
      const birth = await decide(table, rest, nonce)
      const created = birth.nonce === nonce
      if (created || (await isUnfinished(table, birth))) await writeRest(table, birth)
      return { created, meta: birth.run.meta }
    },
    async meta(run) {
      const item = await table.get(itemKey(run, 'META'))
      return item === undefined ? undefined : JSON.parse(from.text(item, 'body'))
    },
    async parentTokens(run) {
      const item = await table.get(itemKey(run, 'PARENT'))
      return item === undefined ? [] : from.members(item, 'tokens')
    },
  }
}

/** Before the run is there: whoever ends it finds the token, whenever that is. */
async function addParentToken(table: RunTable, run: RunKey, token: string): Promise<void> {
  await table.update(itemKey(run, 'PARENT'), ({ path, value }) => ({
    update: `SET ${path('ttl')} = ${value(keepItem(table))} ADD ${path('tokens')} ${value(as.member(token))}`,
  }))
}

async function decide(
  table: RunTable,
  { context, ...run }: Omit<NewRun, 'parent_token'>,
  nonce: string,
): Promise<Birth> {
  const birth: Birth = { run, nonce }
  // Refuses an event that is too large before anything is written.
  eventTexts({ lane: 'run', ordinal: 0, at: run.meta.created_at, events: [run.event] }, nonce)
  const item: Item = {
    ...itemKey(run.meta, 'CTX'),
    version: as.number(0),
    values: as.json(context),
    birth: as.json(birth),
    ttl: keepBirth(table),
  }
  const written = await table.put(item, ifAbsent)
  if (written.ok) return birth
  const there = written.item ?? (await table.get(itemKey(run.meta, 'CTX')))
  return there === undefined ? birth : JSON.parse(from.text(there, 'birth'))
}

/** No HEAD although it was decided: its maker died or is on the way; or HEAD's time is over, and it stays so. */
async function isUnfinished(table: RunTable, { run }: Birth): Promise<boolean> {
  if (table.now() - Date.parse(run.meta.created_at) > UNFINISHED_MS) return false
  return (await table.get(headKey(run.meta), { only: [['v']] })) === undefined
}

const UNFINISHED_MS = 30 * 86_400_000

async function writeRest(table: RunTable, birth: Birth): Promise<void> {
  await table.put({ ...metaItem(birth), ttl: keepBirth(table) }, ifAbsent)
  await table.put(headItem(birth), ifAbsent)
}
