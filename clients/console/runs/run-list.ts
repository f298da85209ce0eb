import { labelWords } from '../../../shared/runs/labels.ts'
import type { KnownValues } from '../../../shared/search-runs/edit.ts'
import type { operations } from '../../api/schema.generated.ts'

export type RunPage = operations['list-runs']['responses'][200]['content']['application/json']
export type RunSummary = RunPage['runs'][number]

/**
 * What is known after the newest page came again: its runs, then the older ones that were loaded before. A run that
 * did not change keeps its object, so that its row is not drawn again. One that belongs into the page and is not in it
 * no longer fits the filters.
 */
export function mergeRuns(known: readonly RunSummary[], page: readonly RunSummary[], isWhole: boolean): RunSummary[] {
  const before = new Map(known.map((run) => [run.run_id, run]))
  const newest = page.map((run) => {
    const old = before.get(run.run_id)
    return old !== undefined && isSame(old, run) ? old : run
  })
  const last = page.at(-1)
  if (isWhole || last === undefined) return newest
  const inPage = new Set(page.map(({ run_id }) => run_id))
  const at = known.findIndex(({ run_id }) => run_id === last.run_id)
  const older = at < 0 ? known.filter((run) => run.created_at < last.created_at) : known.slice(at + 1)
  return [...newest, ...older.filter(({ run_id }) => !inPage.has(run_id))]
}

/** All that may change in a list: everything else is fixed at the start. */
function isSame(a: RunSummary, b: RunSummary): boolean {
  return (
    a.last_seq === b.last_seq &&
    a.state === b.state &&
    a.pending_approvals === b.pending_approvals &&
    a.deadline_at === b.deadline_at &&
    labelWords(a.labels ?? {}) === labelWords(b.labels ?? {})
  )
}

interface Lineage {
  readonly sign: string
  readonly words: string
  readonly run_id: string
}

/** Where a run comes from, if another run made it or it goes on from one. */
export function lineageOf(run: RunSummary): Lineage | undefined {
  if (run.parent !== undefined) {
    return { sign: '↳', words: `child of block ${run.parent.block_id} of`, run_id: run.parent.run_id }
  }
  const from = LINKS.find(([member]) => run[member] !== undefined)
  if (from === undefined) return undefined
  const [member, sign, words] = from
  return { sign, words, run_id: run[member] ?? '' }
}

const LINKS = [
  ['pivots', '⤳', 'pivot of'],
  ['iterates', '⟲', 'iteration of'],
  ['retry_of', '↻', 'retry of'],
  ['continues', '→', 'continues'],
] as const

/** Two runs can be compared: a third one chosen takes the place of the one chosen first. */
export function chooseRun(chosen: readonly string[], run_id: string): readonly string[] {
  if (chosen.includes(run_id)) return chosen.filter((one) => one !== run_id)
  return [...chosen, run_id].slice(-2)
}

/** Most values of a field that are remembered. */
const MOST_KNOWN = 200

/** Names, labels, starters and codes of these runs, and those known before, in order. */
export function knownValues(runs: readonly RunSummary[], before: KnownValues = {}): KnownValues {
  const all = (old: readonly string[] = [], values: readonly string[]) =>
    [...new Set([...old, ...values])].slice(-MOST_KNOWN).toSorted()
  return {
    dag: all(
      before.dag,
      runs.map(({ dag_name }) => dag_name),
    ),
    starter: all(
      before.starter,
      runs.map(({ starter }) => starter),
    ),
    code: all(
      before.code,
      runs.flatMap(({ code }) => code ?? []),
    ),
    label: all(
      before.label,
      runs.flatMap(({ labels = {} }) => Object.entries(labels).flatMap(([key, value]) => [key, `${key}=${value}`])),
    ),
  }
}
