import { Fault } from '../errors.ts'
import type { RunFacts } from '../runs/facts-index.ts'
import { quoted, suggest } from '../text/wording.ts'
import { COUNT_FIELDS, type CountBy } from './count-fields.ts'
import type { RunQuery } from './query.ts'
import { findRuns } from './search.ts'

/** Most runs one call counts: then it says where the next goes on. */
export const MOST_COUNTED = 10_000

/** Runs that have one value of what is counted by. */
export interface RunCount {
  /** Absent: they have none, as a label, or the code of a run that goes on. */
  readonly value?: string
  /** Of a count over time: the day they were started, UTC. */
  readonly day?: string
  readonly runs: number
  readonly tokens: number
  /** Millionths of a dollar, as far as prices are known. */
  readonly usd_micros: number
}

/** `label.team`, `state`: Fault InvalidInput bad_count_field. */
export function readCountBy(text: string): CountBy {
  const known = COUNT_FIELDS.find((field) => field === text)
  if (known !== undefined) return known
  const key = /^label[.:](.+)$/.exec(text)?.[1]
  if (key !== undefined) return `label.${key}`
  const near = suggest(text, COUNT_FIELDS)
  const meant = near === undefined ? '' : ` Did you mean ${quoted(near)}?`
  const message = `Cannot count by ${quoted(text.slice(0, 100))}: runs are counted by ${COUNT_FIELDS.join(', ')} or label.KEY.${meant}`
  throw new Fault('InvalidInput', 'bad_count_field', message, { facts: { allowed: [...COUNT_FIELDS, 'label.KEY'] } })
}

/** Every run exactly once, but by `role`, where a question is counted as that and as a root or a child. */
function valuesOf(facts: RunFacts, by: CountBy): readonly (string | undefined)[] {
  switch (by) {
    case 'dag':
      return [facts.dag_name]
    case 'state':
    case 'starter':
    case 'code':
      return [facts[by]]
    case 'role':
      return facts.roles
    case 'day':
      return [dayOf(facts)]
    default: {
      const key = by.slice('label.'.length)
      return [Object.hasOwn(facts.labels, key) ? facts.labels[key] : undefined]
    }
  }
}

function dayOf({ created_at }: RunFacts): string {
  return created_at.slice(0, 10)
}

interface CountedPart {
  readonly counts: readonly RunCount[]
  /** How many runs these are. */
  readonly counted: number
  /** Runs that had to be read and could not be: they are in no count. */
  readonly damaged: number
  /** Behind the last run that was looked at; absent: these are all. */
  readonly next?: string
}

/**
 * Counts the runs that a query finds, newest first, by one of their fields, from behind a place on. What is answered is
 * exact for the runs it names, `counted`: where `next` is given there may be more. Reads what a search of them reads.
 */
export async function countRuns(
  runs: Parameters<typeof findRuns>[0],
  tenant: string,
  query: RunQuery,
  {
    by,
    over_days,
    before,
    now,
  }: { readonly by: CountBy; readonly over_days: boolean; readonly before?: string | undefined; readonly now: number },
): Promise<CountedPart> {
  const { found, damaged, next } = await findRuns(runs, tenant, query, { limit: MOST_COUNTED, before, now })
  const single = found.flatMap(({ facts }) =>
    valuesOf(facts, by).map((value): RunCount => {
      const { tokens, usd_micros } = facts
      const of = { ...(value === undefined ? {} : { value }), ...(over_days ? { day: dayOf(facts) } : {}) }
      return { ...of, runs: 1, tokens, usd_micros }
    }),
  )
  const counts = joinCounts(single)
  return { counts, counted: found.length, damaged: damaged.length, ...(next === undefined ? {} : { next }) }
}

/** Counts of several parts as one, most runs first; of days the newest first. Property: in whatever order, the same. */
export function joinCounts(parts: readonly RunCount[]): readonly RunCount[] {
  const joined = new Map<string, RunCount>()
  for (const one of parts) {
    const key = JSON.stringify([one.day, one.value])
    const { runs, tokens, usd_micros } = joined.get(key) ?? { runs: 0, tokens: 0, usd_micros: 0 }
    joined.set(key, {
      ...one,
      runs: runs + one.runs,
      tokens: tokens + one.tokens,
      usd_micros: usd_micros + one.usd_micros,
    })
  }
  return [...joined.values()].toSorted(
    (a, b) => compare(b.day, a.day) || b.runs - a.runs || compare(a.value, b.value) || emptyLast(a, b),
  )
}

/** Those that have no value stand before those whose value is an empty text. */
function emptyLast(a: RunCount, b: RunCount): number {
  return Number(a.value !== undefined) - Number(b.value !== undefined)
}

function compare(a = '', b = ''): number {
  return a < b ? -1 : Number(a > b)
}
