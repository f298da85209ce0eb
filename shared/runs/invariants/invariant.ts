import type { RunParts, StoredRun } from './stored-run.ts'

/**
 * One of the invariants (docs/invariants.md), as a check of one stored run: every problem is one sentence with the
 * event or the item it is about, none = it holds. Its file is all a new one needs, and a line in registry.ts.
 */
export interface Invariant<Part extends keyof RunParts = keyof RunParts> {
  /** Its number there. */
  readonly n: number
  readonly title: string
  /** `log`: of events (and document), so that it holds for every prefix; `store`: of items; `objects`: reads objects. */
  readonly of: 'log' | 'store' | 'objects'
  readonly needs: readonly Part[]
  /** Only of a run that has ended and owes nothing. */
  readonly at_rest?: true
  check(run: StoredRun & Pick<RunParts, Part>): readonly string[] | Promise<readonly string[]>
}

/** The check with its parts known to it alone: who runs it looks at `needs` first (check-run.ts). */
export function invariant<Part extends keyof RunParts>(one: Invariant<Part>): Invariant {
  return one
}
