import type { DatabaseSync } from 'node:sqlite'
import { Fault } from '../../../shared/errors.ts'
import type { Head } from '../../../shared/runs/head.ts'
import type { DamagedRun, Meta, RunKey } from '../../../shared/runs/run-store.ts'
import { metaReader } from './create.ts'
import { headReader } from './heads.ts'

/** META and HEAD of a run, or which of them cannot be read: both are written with the run's row, in one transaction. */
export function summaryReader(db: DatabaseSync) {
  const metaOf = metaReader(db)
  const headOf = headReader(db)
  return (run: RunKey): RunSummary | Damaged<DamagedRun['item']> => {
    const meta = readable(run, 'META', () => metaOf(run))
    if ('damaged' in meta) return meta
    const head = readable(run, 'HEAD', () => headOf(run))
    return 'damaged' in head ? head : { summary: { ...meta.value, head: head.value } }
  }
}

interface RunSummary {
  readonly summary: Meta & { readonly head: Head }
}

interface Damaged<Item> {
  readonly damaged: { readonly run_id: string; readonly item: Item; readonly seen: string }
}

/** What is read, or what of the run is damaged. */
export function readable<T, const Item extends string>(
  { run_id }: RunKey,
  item: Item,
  read: () => T | undefined,
): { readonly value: T } | Damaged<Item> {
  try {
    const value = read()
    if (value !== undefined) return { value }
    return { damaged: { run_id, item, seen: 'it is missing' } }
  } catch (error) {
    // A disk that does not answer is no damage of this run: everything would be.
    if (error instanceof Fault && error.name !== 'Bug') throw error
    return { damaged: { run_id, item, seen: error instanceof Error ? error.message : String(error) } }
  }
}
