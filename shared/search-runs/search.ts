import { type FactsIndex, type PlacedFacts, type RunFacts, runAt, STATES_WITH_TERM, term } from '../runs/facts-index.ts'
import type { ShownState } from '../runs/head.ts'
import { wholeFacts } from '../runs/run-facts.ts'
import type { DamagedRun, RunPage, RunStore } from '../runs/run-store.ts'
import { subjectDigest } from '../runs/subject.ts'
import { matches } from './matches.ts'
import type { Condition, RunQuery } from './query.ts'

type Store = FactsIndex & Pick<RunStore, 'summaries'>

/** A run that a query finds. */
export interface FoundRun {
  readonly place: string
  readonly facts: RunFacts
  /** META and HEAD, where they were read for it. */
  readonly summary?: RunPage['runs'][number]
}

export interface FoundPart {
  readonly found: readonly FoundRun[]
  /** Runs that had to be read and could not be. */
  readonly damaged: readonly DamagedRun[]
  /** Behind the last run that was looked at; absent: there are no more. */
  readonly next?: string
}

/** Most runs one call looks at: then its part is short, and `next` goes on. */
const MOST_LOOKED_AT = 25_000
/** Most runs it reads META and HEAD of, since they may have changed since their facts were written. */
const MOST_OPEN = 2_000

/**
 * Runs that a query finds, latest first, from behind a place on. What serves it is the rarest kind of term it names; the facts
 * of each run under that decide, and of a run that lives META and HEAD.
 */
export async function findRuns(
  runs: Store,
  tenant: string,
  query: RunQuery,
  { limit, before, now }: { readonly limit: number; readonly before?: string | undefined; readonly now: number },
): Promise<FoundPart> {
  const bounds = boundsOf(query, before)
  const looking = candidates(runs, tenant, query, bounds, limit)
  const words = [...query.words, ...query.without].map((word) => stream(runs, tenant, term.word(word), bounds))
  const found: FoundRun[] = []
  const damaged: DamagedRun[] = []
  let looked = 0
  let open = 0
  for (let batch = await looking.next(); batch.length > 0; batch = await looking.next()) {
    const worded = await withWords(batch, words, query.words.length)
    const whole = await wholeBatch(runs, tenant, await factsOf(runs, tenant, worded))
    damaged.push(...whole.damaged)
    found.push(...whole.found.filter(({ facts }) => matches(query, facts, now)))
    const last = found[limit - 1]
    if (last !== undefined) return { found: found.slice(0, limit), damaged, next: last.place }
    looked += batch.length
    open += whole.open
    const next = batch.at(-1)?.place
    if (next !== undefined && (looked >= MOST_LOOKED_AT || open >= MOST_OPEN)) return { found, damaged, next }
  }
  return { found, damaged }
}

interface Bounds {
  readonly before?: string | undefined
  readonly from?: string | undefined
}

/** Places hold times as texts: `#` follows a time in a place, and `$` comes behind it. */
function boundsOf({ conditions }: RunQuery, before: string | undefined): Bounds {
  const lows: string[] = []
  const highs = before === undefined ? [] : [before]
  for (const condition of conditions) {
    if (condition.field !== 'time' || condition.negated) continue
    const { min, max, above, below } = condition.range
    lows.push(...isoOf(min, above === true ? '$' : ''))
    highs.push(...isoOf(max, below === true ? '' : '$'))
  }
  return { from: lows.toSorted().at(-1), before: highs.toSorted()[0] }
}

/** A time far before or behind all there are bounds nothing. */
function isoOf(ms: number | undefined, behind: string): readonly string[] {
  return ms === undefined || ms < 0 || ms > MOST_MS ? [] : [new Date(ms).toISOString() + behind]
}

const MOST_MS = Date.parse('9999-12-31T00:00:00Z')

/** Runs to look at, in batches that grow: most queries are served by the first. */
interface Candidates {
  next(): Promise<readonly Candidate[]>
}

interface Candidate {
  readonly place: string
  /** Where they were read with the place. */
  readonly known?: PlacedFacts
}

const LEAST_BATCH = 50
const MOST_BATCH = 2_000

function batches(limit: number, read: (size: number) => Promise<readonly Candidate[]>): Candidates {
  let size = Math.max(LEAST_BATCH, Math.min(limit + 1, MOST_BATCH))
  let isOver = false
  return {
    async next() {
      if (isOver) return []
      const batch = await read(size)
      isOver = batch.length < size
      size = Math.min(MOST_BATCH, size * 4)
      return batch
    },
  }
}

function candidates(runs: Store, tenant: string, query: RunQuery, bounds: Bounds, limit: number): Candidates {
  const [word] = query.words
  const terms = word === undefined ? servingTerms(query.conditions) : [term.word(word)]
  if (terms !== undefined) {
    const merged = union(terms.map((of) => stream(runs, tenant, of, bounds)))
    return batches(limit, async (size) => {
      const places: Candidate[] = []
      for (let place = await merged.take(); place !== undefined; place = await merged.take()) {
        places.push({ place })
        if (places.length === size) break
      }
      return places
    })
  }
  let { before } = bounds
  return batches(limit, async (size) => {
    const part = await runs.facts(tenant, { before, from: bounds.from, limit: size })
    before = part.at(-1)?.place ?? before
    return part.map((known) => ({ place: known.place, known }))
  })
}

/** What few runs have comes first. */
const RAREST_FIRST = ['id', 'subject', 'label', 'code', 'starter', 'dag', 'state'] as const

function servingTerms(conditions: readonly Condition[]): readonly string[] | undefined {
  for (const field of RAREST_FIRST) {
    const terms = conditions.flatMap((condition) => {
      if (condition.field !== field || condition.negated) return []
      const of = termsOf(condition)
      return of === undefined ? [] : [of]
    })
    if (terms[0] !== undefined) return terms[0]
  }
  return undefined
}

/** undefined: no list has exactly these. */
function termsOf(condition: Condition): readonly string[] | undefined {
  switch (condition.field) {
    case 'id':
      return condition.any.map(term.id)
    case 'subject':
      return condition.any.map((subject) => term.subject(subjectDigest(subject)))
    case 'label':
      return condition.any.map(({ key, value }) => term.label(key, value))
    case 'dag':
    case 'starter':
    case 'code': {
      const make = term[condition.field]
      return condition.any.some(({ begins }) => begins) ? undefined : condition.any.map(({ name }) => make(name))
    }
    case 'state':
      return termsOfStates(condition.any)
    default:
      return undefined
  }
}

function termsOfStates(states: readonly string[]): readonly string[] | undefined {
  const known = STATES_WITH_TERM.filter((state) => states.includes(state))
  return known.length === new Set(states).size ? known.map((state: ShownState) => term.state(state)) : undefined
}

/** Places under one term, latest first, read as they are needed. */
interface Stream {
  peek(): Promise<string | undefined>
  take(): Promise<string | undefined>
}

const STREAM_PAGE = 500

function stream(runs: Store, tenant: string, of: string, bounds: Bounds): Stream {
  let page: readonly string[] = []
  let at = 0
  let isOver = false
  let { before } = bounds
  const fill = async () => {
    if (at < page.length || isOver) return
    page = await runs.placesUnder(tenant, of, { before, from: bounds.from, limit: STREAM_PAGE })
    at = 0
    isOver = page.length < STREAM_PAGE
    before = page.at(-1) ?? before
  }
  return {
    async peek() {
      await fill()
      return page[at]
    },
    async take() {
      await fill()
      at += 1
      return page[at - 1]
    },
  }
}

/** Of several, each place once. */
function union(streams: readonly Stream[]): Pick<Stream, 'take'> {
  return {
    async take() {
      const heads = await Promise.all(streams.map((one) => one.peek()))
      const latest = heads.reduce((a, b) => (a === undefined || (b !== undefined && b > a) ? b : a), undefined)
      if (latest === undefined) return undefined
      await Promise.all(streams.map(async (one, i) => (heads[i] === latest ? one.take() : undefined)))
      return latest
    },
  }
}

/** Those of a batch that are under each of the first words and none of the others. The streams go down with the batches. */
async function withWords(
  batch: readonly Candidate[],
  words: readonly Stream[],
  wanted: number,
): Promise<readonly Candidate[]> {
  const kept: Candidate[] = []
  for (const one of batch) {
    const under = await Promise.all(words.map((word) => isUnder(word, one.place)))
    if (under.every((is, i) => is === i < wanted)) kept.push(one)
  }
  return kept
}

async function isUnder(word: Stream, place: string): Promise<boolean> {
  for (;;) {
    const there = await word.peek()
    if (there === undefined || there <= place) return there === place
    await word.take()
  }
}

/** In the order of the places; a place whose facts are gone is left out. */
async function factsOf(runs: Store, tenant: string, batch: readonly Candidate[]): Promise<readonly PlacedFacts[]> {
  const missing = batch.flatMap(({ place, known }) => (known === undefined ? [place] : []))
  const read = missing.length === 0 ? [] : await runs.factsAt(tenant, missing)
  const byPlace = new Map(read.map((one) => [one.place, one]))
  return batch.flatMap(({ place, known }) => known ?? byPlace.get(place) ?? [])
}

/** Runs whose facts are open are read: META and HEAD decide. One that is gone, or not there yet, is none. */
async function wholeBatch(runs: Store, tenant: string, batch: readonly PlacedFacts[]) {
  const open = batch.filter(({ stored }) => stored?.end === undefined).map(({ place }) => runAt(place).run_id)
  const { runs: read, damaged = [] } = open.length === 0 ? { runs: [] } : await runs.summaries(tenant, open)
  const byId = new Map(read.map((summary) => [summary.run_id, summary]))
  const found = batch.flatMap(({ place, stored }): readonly FoundRun[] => {
    if (stored?.end !== undefined) {
      const { birth, labels, end } = stored
      return [{ place, facts: { ...birth, ...end, labels } }]
    }
    const summary = byId.get(runAt(place).run_id)
    return summary === undefined ? [] : [{ place, summary, facts: wholeFacts(summary, summary.head) }]
  })
  return { found, damaged, open: open.length }
}
