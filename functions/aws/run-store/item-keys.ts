import type { RunKey } from '../../../shared/runs/run-store.ts'
import { as, type Item } from './attribute-values.ts'

/** Key of an item of a run: `T#<tenant>#R#<run>` and its kind (docs/architecture.md, "The run store"). */
export function itemKey({ tenant, run_id }: RunKey, sk: string): Item {
  return { pk: as.text(`T#${tenant}#R#${run_id}`), sk: as.text(sk) }
}

/** The run an index entry belongs to: the inverse of `itemKey`. Run ids have no `#`, tenants may. */
export function runOf(pk: string): RunKey {
  const at = pk.lastIndexOf('#R#')
  return { tenant: pk.slice(2, at), run_id: pk.slice(at + 3) }
}

/** Key of a page: its LAST seq, padded so that text order is number order. */
export function pageSk(seq: number): string {
  return `P#${String(seq).padStart(12, '0')}`
}
