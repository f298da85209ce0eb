import { RUN_TABLE } from '../../../shared/runs/dynamodb-table.ts'
import {
  type FactsIndex,
  labelTerms,
  type PartOfPlaces,
  type PlacedFacts,
  placeOf,
  type StoredFacts,
  term,
} from '../../../shared/runs/facts-index.ts'
import type { Head } from '../../../shared/runs/head.ts'
import type { ChangedLabels, RunNote } from '../../../shared/runs/labels.ts'
import { adoptedFacts, birthFacts, endFacts, endTerms } from '../../../shared/runs/run-facts.ts'
import type { EndedRun, Meta, NewRun, RunKey, RunStore } from '../../../shared/runs/run-store.ts'
import { headKey } from './head.ts'
import { as, birthTtl, from, headTtl, type Item, itemKey, itemTtl } from './item-encoding.ts'
import { ifAbsent, type RunTable } from './table.ts'
import { factsKey, factsPartition, putOwnTerms, putTerms, termPartition, wordsOfRun } from './terms.ts'

/**
 * What runs are found by (docs/adr/0097): FACTS, one item a run, in a partition of the tenant by time, and an item a term in a
 * partition of the term. Both are written before HEAD, or before what they tell of is; `open` names who may be about to
 * change HEAD, and while it is there HEAD is read too. So what a search finds is what HEAD says, whoever died in between.
 */
export function factsOn(
  table: RunTable,
  metaOf: RunStore['meta'],
): FactsIndex & Pick<RunStore, 'putLabels' | 'putNote' | 'notes' | 'addWords' | 'words'> {
  return {
    facts: async (tenant, part) => (await partOf(table, factsPartition(tenant), part)).map(read),
    async factsAt(tenant, places) {
      const keys = [...new Set(places)].map((place) => factsKey(tenant, place))
      return (await table.getAll(keys)).map(read)
    },
    placesUnder: async (tenant, of, part) =>
      (await partOf(table, termPartition(tenant, of), part)).map((item) => from.text(item, RUN_TABLE.range)),
    putLabels: (run, labels) => putLabels(table, metaOf, run, labels),
    putNote: (run, note) => putNote(table, run, note),
    async notes(run) {
      const items = await table.all(itemKey(run, 'NOTE#'))
      return items.map((item): RunNote => JSON.parse(from.text(item, 'note')))
    },
    async addWords(run, words) {
      const meta = await metaOf(run)
      if (meta !== undefined) await putOwnTerms(table, meta, words.map(term.word))
    },
    words: (run) => wordsOfRun(table, run),
  }
}

async function putNote(table: RunTable, run: RunKey, note: RunNote): Promise<void> {
  const key = itemKey(run, `NOTE#${note.at}#${note.id}`)
  await table.put({ ...key, note: as.json(note), ttl: itemTtl(table) }, ifAbsent)
}

/** The page of a query has 1 MB: what is asked for may need several. */
async function partOf(table: RunTable, partition: string, { before, from: first, limit }: PartOfPlaces) {
  const found: Item[] = []
  // A key outside of what is asked for is refused.
  if (before !== undefined && first !== undefined && before <= first) return found
  let after = before === undefined ? undefined : { pk: as.text(partition), sk: as.text(before) }
  do {
    const { items, last } = await table.query({
      where: ({ path, value }) => {
        const whole = `${path(RUN_TABLE.hash)} = ${value(as.text(partition))}`
        const since = first === undefined ? '' : ` AND ${path(RUN_TABLE.range)} >= ${value(as.text(first))}`
        return { condition: whole + since }
      },
      backwards: true,
      limit: limit - found.length,
      ...(after === undefined ? {} : { after }),
    })
    found.push(...items)
    after = last === undefined ? undefined : { pk: as.text(partition), sk: as.text(from.text(last, RUN_TABLE.range)) }
  } while (after !== undefined && found.length < limit)
  return found
}

function read(item: Item): PlacedFacts {
  const place = from.text(item, RUN_TABLE.range)
  try {
    const stored = {
      birth: JSON.parse(from.text(item, 'birth')),
      labels: JSON.parse(from.text(item, 'labels')),
    }
    // Somebody may be about to change HEAD.
    const end = item.open === undefined && item.ended?.S !== undefined ? { end: JSON.parse(item.ended.S) } : {}
    return { place, stored: { ...stored, ...end } }
  } catch {
    return { place, stored: undefined }
  }
}

/** Before HEAD is there: a run that is in no list is found by nothing. */
export async function writeBirthFacts(
  table: RunTable,
  { meta, words = [] }: Pick<NewRun, 'meta' | 'words'>,
): Promise<void> {
  const { facts, terms } = birthFacts({ meta })
  await Promise.all([
    table.put(openFacts(table, meta, facts), ifAbsent),
    putTerms(table, meta.tenant, placeOf(meta), terms),
    putOwnTerms(table, meta, words.map(term.word)),
  ])
}

/** Of a run another store had, before HEAD is there; `closeFacts` comes after it, as after an end. */
export async function writeAdoptedFacts(table: RunTable, run: EndedRun): Promise<void> {
  const { meta, head } = run
  const { facts, terms } = adoptedFacts(run)
  const { version } = head.labels ?? {}
  const labelled = version === undefined ? {} : { labels_version: as.number(version) }
  await Promise.all([
    table.put({ ...openFacts(table, meta, facts), ...labelled }),
    putTerms(table, meta.tenant, placeOf(meta), terms),
    putOwnTerms(table, meta, run.words.map(term.word)),
    ...run.notes.map((note) => putNote(table, meta, note)),
  ])
}

function openFacts(table: RunTable, meta: Meta, { birth, labels }: StoredFacts): Item {
  return {
    ...factsKey(meta.tenant, placeOf(meta)),
    birth: as.json(birth),
    labels: as.json(labels),
    open: as.members([ALIVE]),
    ttl: birthTtl(table),
  }
}

/** Who may change HEAD of a run that lives: everybody. */
const ALIVE = 'alive'

/**
 * After HEAD has ended, `place` as HEAD has it: what the facts say from now on. Who dies before leaves them open. The terms
 * come first: whoever finds the facts closed finds every term.
 */
export async function closeFacts(table: RunTable, { tenant }: RunKey, head: Head, place: string): Promise<void> {
  const facts = endFacts(head)
  await putTerms(table, tenant, place, endTerms(head, facts.state))
  await table.update(factsKey(tenant, place), ({ path, value }) => {
    const kept = `${path('ttl')} = ${value(headTtl(head.ended?.at ?? new Date(table.now()).toISOString(), table))}`
    return {
      update: `SET ${path('ended')} = ${value(as.json(facts))}, ${kept} DELETE ${path('open')} ${value(as.member(ALIVE))}`,
      condition: `attribute_exists(${path('birth')})`,
    }
  })
}

/** Opened first, and listed under the new labels; then HEAD; then closed, unless a later change was faster. */
async function putLabels(
  table: RunTable,
  metaOf: RunStore['meta'],
  run: RunKey,
  labels: ChangedLabels,
): Promise<boolean> {
  const meta = await metaOf(run)
  if (meta === undefined) return false
  const mine = table.nonce()
  const key = factsKey(run.tenant, placeOf(meta))
  await table.update(key, ({ path, value }) => ({
    update: `ADD ${path('open')} ${value(as.member(mine))}`,
    condition: `attribute_exists(${path('birth')})`,
  }))
  await putOwnTerms(table, meta, labelTerms(labels.values))
  const { version } = labels
  const written = await table.update(headKey(run), ({ path, value }) => {
    const [body, at] = [path('labels'), path('labels_version')]
    const before = version === 1 ? `attribute_not_exists(${at})` : `${at} = ${value(as.number(version - 1))}`
    return {
      update: `SET ${body} = ${value(as.json(labels.values))}, ${at} = ${value(as.number(version))}`,
      condition: `attribute_exists(${path('state')}) AND ${before}`,
    }
  })
  const isMine = written.ok || (written.item !== undefined && isSame(written.item, labels))
  if (isMine)
    await table.update(key, ({ path, value }) => {
      const at = path('labels_version')
      const number = value(as.number(version))
      return {
        update: `SET ${path('labels')} = ${value(as.json(labels.values))}, ${at} = ${number}`,
        condition: `attribute_exists(${path('birth')}) AND (attribute_not_exists(${at}) OR ${at} < ${number})`,
      }
    })
  await table.update(key, ({ path, value }) => ({
    update: `DELETE ${path('open')} ${value(as.member(mine))}`,
    condition: `attribute_exists(${path('birth')})`,
  }))
  return isMine
}

/** The SDK sent it twice: its own first sending was in the way of the second. */
function isSame(item: Item, { version, values }: ChangedLabels): boolean {
  return item.labels_version?.N === String(version) && item.labels?.S === JSON.stringify(values)
}
