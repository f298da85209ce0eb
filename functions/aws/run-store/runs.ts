import { Fault } from '../../../shared/errors.ts'
import { runErasedFault } from '../../../shared/runs/erasure.ts'
import { CHAIN_START } from '../../../shared/runs/hash-chain.ts'
import type { Head } from '../../../shared/runs/head.ts'
import { ordinal, PHASE } from '../../../shared/runs/lane.ts'
import type { NewRun, RunKey, RunStore } from '../../../shared/runs/run-store.ts'
import { marksOn } from './erasure.ts'
import { layoutOf, tailName, tailPart } from './event-encoding.ts'
import { eventTexts, spill } from './event-log.ts'
import { writeBirthFacts } from './facts.ts'
import { dueShard, headKey, readHead } from './head.ts'
import { as, birthTtl, from, type Item, itemKey, itemTtl } from './item-encoding.ts'
import { lanePath } from './lanes.ts'
import { newLedger } from './ledger.ts'
import { createExpressionTerms, ifAbsent, type RunTable } from './table.ts'

/**
 * Creates a run without a transaction: CTX, put if absent, decides what the run is; META and HEAD follow from it, and
 * with HEAD the run is there. A create that stops in between leaves nothing anybody sees; the next one of the same id
 * goes on with what the first decided.
 */
export function runsOn(table: RunTable): Pick<RunStore, 'create' | 'meta' | 'parentTokens'> {
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
    update: `SET ${path('ttl')} = ${value(itemTtl(table))} ADD ${path('tokens')} ${value(as.member(token))}`,
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
    ttl: birthTtl(table),
  }
  const written = await table.put(item, ifAbsent)
  if (written.ok) return birth
  const there = written.item ?? (await table.get(itemKey(run.meta, 'CTX')))
  if (there?.erased !== undefined) throw await erasedFault(table, run.meta)
  return there === undefined ? birth : JSON.parse(from.text(there, 'birth'))
}

/** Whose CTX says that it was erased. */
export async function erasedFault(table: RunTable, { tenant, run_id }: RunKey): Promise<Fault> {
  const erasure = (await marksOn(table).mark({ tenant, run_id }))?.erasure
  return erasure === undefined
    ? new Fault(
        'Bug',
        'item_corrupt',
        `Cannot start run "${run_id}": its context says it was erased, and no record does.`,
      )
    : runErasedFault({ tenant, run_id }, erasure)
}

/** No HEAD although it was decided: its maker died or is on the way; or HEAD's time is over, and it stays so. */
async function isUnfinished(table: RunTable, { run }: Birth): Promise<boolean> {
  if (table.now() - Date.parse(run.meta.created_at) > UNFINISHED_MS) return false
  return (await table.get(headKey(run.meta), { only: [['v']] })) === undefined
}

const UNFINISHED_MS = 30 * 86_400_000

async function writeRest(table: RunTable, birth: Birth): Promise<void> {
  const meta = { ...metaItem(birth), ttl: birthTtl(table) }
  await Promise.all([table.put(meta, ifAbsent), writeBirthFacts(table, birth.run)])
  await table.put(headItem(birth), ifAbsent)
}

/** What a run is made from, kept in CTX: META and HEAD are pure functions of it, so anybody can write them. */
interface Birth {
  readonly run: Omit<NewRun, 'context' | 'parent_token'>
  /** Of the create that came first. */
  readonly nonce: string
}

/** HEAD as it is first written: maps and tail are there, so that every later update has a path to go on. */
function headItem({ run, nonce }: Birth): Item {
  const { tenant, run_id, created_at, dag_name } = run.meta
  const texts = eventTexts({ lane: 'run', ordinal: STARTED, at: created_at, events: [run.event] }, nonce)
  return {
    ...headKey(run.meta),
    v: as.number(2),
    state: as.text('running'),
    dag_name: as.text(dag_name),
    by_tenant: as.text(`T#${tenant}`),
    created: as.text(`${created_at}#${run_id}`),
    due: as.text(dueShard(run_id)),
    base: as.number(0),
    base_hash: as.text(CHAIN_START),
    log: tailPart(texts, 2).entries,
    lanes: as.map({ run: as.number(STARTED) }),
    items: as.map({}),
    approvals: as.map({}),
    modules: as.map({}),
    children: as.map({}),
    outbox: as.map(Object.fromEntries(run.outbox.map((entry) => [entry.id, as.json(entry)]))),
    deadline_at: as.text(run.deadline_at),
    check_at: as.text(run.check_at),
    ...newLedger(run.caps),
    stored_bytes: as.number(run.stored_bytes ?? 0),
    ...(run.queued === true ? { queued: as.number(1) } : {}),
  }
}

/** META: written once. */
function metaItem({ run }: Birth): Item {
  return { ...itemKey(run.meta, 'META'), body: as.json(run.meta) }
}

/** run:started is the first step of the run's own lane. */
const STARTED = ordinal({ epoch: 0, attempt: 0, phase: PHASE.claimed })

/** HEAD as readers see it, the outbox's other end, and the STOP mark. */
export function headsOn(
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
    async moveCheck(run, was, to, seq) {
      if (to === undefined) await spillRest(table, run)
      const stands = seq === undefined ? undefined : await tailOf(table, run)
      await table.update(headKey(run), ({ path, value }) => {
        const guards = [`${path('check_at')} = ${value(as.text(was))}`]
        if (seq !== undefined && stands !== undefined) {
          const { base, name } = stands
          guards.push(`${path('base')} = ${value(as.number(base))}`)
          guards.push(`size(${path(name)}) = ${value(as.number(seq - base))}`)
        }
        return {
          update: to === undefined ? `REMOVE ${path('check_at')}` : `SET ${path('check_at')} = ${value(as.text(to))}`,
          condition: guards.join(' AND '),
        }
      })
    },
    async putStop(run, block) {
      await table.put({ ...stopKey(run, block), ttl: itemTtl(table) })
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

/** A condition cannot add: that HEAD is at seq s, it says as its base and the size of its tail. */
async function tailOf(table: RunTable, run: RunKey) {
  const item = await table.get(headKey(run), { only: [['v'], ['base']] })
  return item === undefined ? undefined : { base: from.number(item, 'base'), name: tailName(layoutOf(item)) }
}

/** Before the last look at a run that ended: what the writer of its end had no time to spill. */
async function spillRest(table: RunTable, run: RunKey): Promise<void> {
  const item = await table.get(headKey(run))
  const stored = item === undefined ? undefined : readHead(item)
  if (stored !== undefined && stored.head.state !== 'running') await spill(table, run, stored)
}

/** All but the lanes: the same in every read of HEAD. */
const REST = once(
  'v state base base_hash tail log packed running approvals modules children deadline_at check_at outbox queued resting paused ended labels labels_version',
  'cap_tokens cap_usd_micros room_tokens room_usd_micros spent_tokens spent_usd_micros unpriced_tokens stored_bytes',
)

function once(...names: readonly string[]) {
  const terms = createExpressionTerms()
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
