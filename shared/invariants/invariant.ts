import type { Dag } from '../dag/dag.ts'
import type { Isolate } from '../ports/isolate.ts'
import type { RunEvent } from '../runs/event.ts'
import type { Head } from '../runs/head.ts'
import type { Execution } from '../runs/machine.ts'
import type { Meta } from '../runs/run-store.ts'
import type { ApprovalItem, ArtifactItem, BlockProjection, ContextItem } from '../runs/run-store-items.ts'

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
export function defineInvariant<Part extends keyof RunParts>(one: Invariant<Part>): Invariant {
  return one
}

/** Everything a run is made of where it is stored. */
export interface RunParts {
  /** All of them, by seq. */
  readonly events: readonly RunEvent[]
  /** As it was when these events were all there were. */
  readonly head: Head
  readonly meta: Meta
  /** The document it is pinned to. */
  readonly dag: Dag
  /** Of its blocks and of the items of its foreach blocks. */
  readonly projections: readonly BlockProjection[]
  readonly approvals: readonly ApprovalItem[]
  /** Questions of an earlier run, whose decisions a retry takes over. */
  readonly approvals_of: (run_id: string) => Promise<readonly ApprovalItem[]>
  readonly artifacts: readonly ArtifactItem[]
  readonly context: ContextItem
  /** `null`: its machine knows of none. */
  readonly execution: Execution | null
  /** The bytes of an object; undefined = there is none, or it is not what its hash says. */
  readonly read: (ref: string) => Promise<Uint8Array | undefined>
  readonly isolate: Isolate
  /** HEAD at an earlier look: what must never change or fall is compared with it. */
  readonly before: Head
  /** The safety policy's cap of attempts, where it is known to have been the same all along. */
  readonly max_attempts: number
}

/** The parts somebody has at hand: a check that needs another one is left out. */
export type StoredRun = Partial<RunParts> & Pick<RunParts, 'events'>
