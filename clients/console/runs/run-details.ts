import { type ReadonlySignal, type Signal, signal } from '@preact/signals'
import { answerOf, api } from '../api.ts'
import type { RunSummary } from './known-runs.ts'

/** What the list does not say of a run that lives, or that ended before the list knew how. */
export interface RunDetails {
  readonly ended_at?: string
  /** What it waits for, or why it ended so. */
  readonly words?: string
}

interface Kept {
  readonly details: Signal<RunDetails | undefined>
  /** Event and time of the newest question. */
  seq: number
  asked_at: number
}

const kept = new Map<string, Kept>()

/** The details of a run, once they are there: wantDetails asks for them. */
export function detailsOf(run_id: string): ReadonlySignal<RunDetails | undefined> {
  return keptOf(run_id).details
}

/** Asks for the details of runs somebody looks at, where the list lacks them and something happened since; few at a time. */
export function wantDetails(runs: readonly RunSummary[]): void {
  for (const run of runs) {
    const one = keptOf(run.run_id)
    if (hasAll(run) || !isStale(one, run)) continue
    one.seq = run.last_seq
    one.asked_at = Date.now()
    waiting.add(run.run_id)
  }
  work()
}

/** ms after which what a live run waits for is told in other words (`running for 12 s`). */
const STALE_MS = 5_000

export function isLive({ state }: RunSummary): boolean {
  return LIVE.has(state)
}

const LIVE: ReadonlySet<string> = new Set(['running', 'pending', 'paused_approval'])

/** The list tells the end of a run whole. */
function hasAll({ ended_at }: RunSummary): boolean {
  return ended_at !== null
}

function isStale({ seq, asked_at }: Kept, run: RunSummary): boolean {
  return seq !== run.last_seq || (isLive(run) && Date.now() - asked_at > STALE_MS)
}

function keptOf(run_id: string): Kept {
  const known = kept.get(run_id)
  if (known !== undefined) return known
  const made = { details: signal<RunDetails | undefined>(undefined), seq: -1, asked_at: 0 }
  kept.set(run_id, made)
  return made
}

/** Runs asked for at once: the page must not crowd out its own list. */
const AT_ONCE = 3
const waiting = new Set<string>()
let busy = 0

function work(): void {
  for (const run_id of waiting) {
    if (busy >= AT_ONCE) return
    waiting.delete(run_id)
    busy += 1
    void ask(run_id).finally(() => {
      busy -= 1
      work()
    })
  }
}

async function ask(run_id: string): Promise<void> {
  const one = keptOf(run_id)
  try {
    const { run } = await answerOf(api.GET('/api/dag/runs/{run_id}', { params: { path: { run_id } } }))
    const { ended_at, waiting_for, reason } = run
    const words = waiting_for ?? reason
    one.details.value = {
      ...(ended_at === undefined ? {} : { ended_at }),
      ...(words === undefined ? {} : { words }),
    }
  } catch {
    // The list says what is wrong; these cells stay empty, and are asked for again.
    one.seq = -1
  }
}
