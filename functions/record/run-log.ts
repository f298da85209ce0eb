import type { RunEvent } from '../../shared/runs/event.ts'
import { foldRun } from '../../shared/runs/fold-run.ts'
import { CHAIN_START, hashAfter } from '../../shared/runs/hash-chain.ts'
import type { RunFold } from '../../shared/runs/run-fold.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'

/**
 * The log of a run, read by people's requests. On a laptop the thread that reads it also runs the blocks of every other
 * run: whoever goes through a long log lets others work after each slice of it.
 */
export interface RunLog {
  /** All of them. The same array as long as nothing is added: what is found out about it can be kept by it. */
  readonly events: readonly RunEvent[]
  /** What they fold to. */
  readonly fold: RunFold
}

type Store = Pick<World, 'runs'> & Partial<Pick<World, 'clock'>>

/** Events read in one go, some 4 ms. */
const PAGE = 1_000
/** Events hashed in one go. */
const SLICE = 500
/** Folding is cheaper an event, and each further slice copies the blocks there are. */
const FOLDED = 2_000

/**
 * All events of a run and their fold. A long log is kept by a warm process, and only what is new is read and folded: events
 * are never changed. Whoever checks a record reads it whole (`allEvents`).
 */
export async function readLog(world: Pick<World, 'runs' | 'clock'>, run: RunKey): Promise<RunLog> {
  const logs = logsOf(world.runs)
  const key = `${run.tenant}/${run.run_id}`
  const known = logs.get(key)
  const news: RunEvent[] = []
  for await (const page of pagesOf(world, run, known?.fold.seq ?? 0)) news.push(...page)
  const log = known !== undefined && news.length === 0 ? known : await added(world, known, news)
  keep(logs, key, log)
  return log
}

async function added(
  { clock }: Pick<World, 'clock'>,
  known: RunLog | undefined,
  news: readonly RunEvent[],
): Promise<RunLog> {
  let fold = foldRun(news.slice(0, FOLDED), known?.fold)
  for (let from = FOLDED; from < news.length; from += FOLDED) {
    await clock.turn?.()
    fold = foldRun(news.slice(from, from + FOLDED), fold)
  }
  return { events: known === undefined ? news : [...known.events, ...news], fold }
}

/** Every stored event of a run, read anew. */
export async function allEvents(store: Store, run: RunKey): Promise<readonly RunEvent[]> {
  const all: RunEvent[] = []
  for await (const page of pagesOf(store, run, 0)) all.push(...page)
  return all
}

/** Events after `since`, page by page; others work between two pages. */
async function* pagesOf({ runs, clock }: Store, run: RunKey, since: number): AsyncGenerator<readonly RunEvent[]> {
  for (let after = since; ; ) {
    const page = await runs.events(run, after, PAGE)
    yield page
    if (page.length < PAGE) return
    after = page.at(-1)?.seq ?? after
    await clock?.turn?.()
  }
}

/** The hash after the last of these events, as `hashAfter` has it. */
export async function hashOfLog({ clock }: Pick<World, 'clock'>, events: readonly RunEvent[]): Promise<string> {
  let hash = CHAIN_START
  for (let from = 0; from < events.length; from += SLICE) {
    if (from > 0) await clock.turn?.()
    hash = hashAfter(events.slice(from, from + SLICE), hash)
  }
  return hash
}

/** A shorter log costs less than a millisecond to read, and is not kept. */
const LEAST_KEPT = 200
/** Of all logs together, about one KiB each. */
const MOST_KEPT = 20_000

interface Logs extends Map<string, RunLog> {}

const warm = new WeakMap<object, Logs>()

function logsOf(store: object): Logs {
  const logs = warm.get(store) ?? new Map<string, RunLog>()
  warm.set(store, logs)
  return logs
}

/** The one that was read last stays longest. */
function keep(logs: Logs, key: string, log: RunLog): void {
  logs.delete(key)
  if (log.events.length < LEAST_KEPT || log.events.length > MOST_KEPT) return
  logs.set(key, log)
  let left = MOST_KEPT
  for (const [other, { events }] of [...logs].reverse()) {
    left -= events.length
    if (left < 0) logs.delete(other)
  }
}
