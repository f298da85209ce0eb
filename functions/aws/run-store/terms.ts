import { labelTerms, placeOf, term } from '../../../shared/runs/facts-index.ts'
import { birthFacts, endFacts, endTerms } from '../../../shared/runs/run-facts.ts'
import type { Meta, RunKey } from '../../../shared/runs/run-store.ts'
import { sha256 } from '../../../shared/text/hash.ts'
import { headKey, readHead } from './head.ts'
import { as, from, type Item, itemKey, itemTtl } from './item-encoding.ts'
import type { RunTable } from './table.ts'

/**
 * Where a run is listed: an item a term in the partition of that term, by time. Nothing leads from a run to those but META and
 * HEAD; of terms that neither says, words and labels of before, TERMS# in the run's own partition tells, and is written first.
 * So whoever copies a run has its words, and whoever erases it finds every list it is in.
 */

export function factsPartition(tenant: string): string {
  return `T#${tenant}#FACTS`
}

export function factsKey(tenant: string, place: string): Item {
  return { pk: as.text(factsPartition(tenant)), sk: as.text(place) }
}

/** Terms may be anything people write: they are hashed. */
export function termPartition(tenant: string, of: string): string {
  return `T#${tenant}#TERM#${sha256(of)}`
}

function termKey(tenant: string, of: string, place: string): Item {
  return { pk: as.text(termPartition(tenant, of)), sk: as.text(place) }
}

const TERMS = 'TERMS#'
/** All of them, of a run that is being erased. */
const ALL = `${TERMS}all`

/** Lists a run under terms that META and HEAD say. */
export async function putTerms(table: RunTable, tenant: string, place: string, terms: readonly string[]) {
  const ttl = itemTtl(table)
  await Promise.all(terms.map((of) => table.put({ ...termKey(tenant, of, place), ttl })))
}

/** Lists it under others. */
export async function putOwnTerms(table: RunTable, meta: Meta, terms: readonly string[]): Promise<void> {
  if (terms.length === 0) return
  const sk = `${TERMS}${sha256(JSON.stringify(terms))}`
  await table.put({ ...itemKey(meta, sk), terms: as.json(terms), ttl: itemTtl(table) })
  await putTerms(table, meta.tenant, placeOf(meta), terms)
}

/** Those of TERMS#. */
async function ownTerms(table: RunTable, run: RunKey): Promise<readonly string[]> {
  const items = await table.all(itemKey(run, TERMS))
  return [...new Set(items.flatMap((item): string[] => JSON.parse(from.text(item, 'terms'))))]
}

interface Listed {
  readonly place: string
  readonly terms: readonly string[]
}

/** Undefined: it has no META. */
async function listed(table: RunTable, run: RunKey): Promise<Listed | undefined> {
  const item = await table.get(itemKey(run, 'META'))
  if (item === undefined) return undefined
  const meta: Meta = JSON.parse(from.text(item, 'body'))
  const stored = await table.get(headKey(run))
  const head = stored === undefined ? undefined : readHead(stored).head
  const said = [
    ...birthFacts({ meta }).terms,
    ...labelTerms(head?.labels?.values ?? {}),
    ...(head === undefined ? [] : endTerms(head, endFacts(head).state)),
  ]
  return { place: placeOf(meta), terms: [...new Set([...said, ...(await ownTerms(table, run))])] }
}

/** Every word it is listed under. */
export async function wordsOfRun(table: RunTable, run: RunKey): Promise<readonly string[]> {
  const { terms = [] } = (await listed(table, run)) ?? {}
  return terms.flatMap((of) => (of.startsWith(WORD) ? [of.slice(WORD.length)] : [])).toSorted()
}

const WORD = term.word('')

/** Before META and HEAD go: what they say of its lists. Answers its place. */
export async function noteTerms(table: RunTable, run: RunKey): Promise<string | undefined> {
  const found = await listed(table, run)
  if (found !== undefined) await table.put({ ...itemKey(run, ALL), terms: as.json(found.terms) })
  return found?.place
}

/** After HEAD went: it is found by nothing. May be done again, of what somebody listed who had still seen it. */
export async function unlistRun(table: RunTable, run: RunKey, place: string): Promise<void> {
  for (const of of await ownTerms(table, run)) await table.remove(termKey(run.tenant, of, place))
  await table.remove(factsKey(run.tenant, place))
}

/** Its facts and lists, which a hold keeps as it keeps the run. */
export async function listKeys(table: RunTable, run: RunKey): Promise<readonly Item[]> {
  const found = await listed(table, run)
  if (found === undefined) return []
  const { place, terms } = found
  return [factsKey(run.tenant, place), ...terms.map((of) => termKey(run.tenant, of, place))]
}
