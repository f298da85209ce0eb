import { Fault } from '../../../shared/errors.ts'
import type { Append, Appended } from '../../../shared/runs/append.ts'
import type { RunKey } from '../../../shared/runs/run-store.ts'
import { closeInbox } from './approvals.ts'
import type { StoredHead } from './head-item.ts'
import { writeProjection } from './projections.ts'
import type { RunTable } from './run-table.ts'
import { spill } from './spill.ts'

/**
 * What follows an append that is in HEAD, in any order: the projection, the inbox, and room for those who come after.
 * `seen` is HEAD with the append in it; `seq` that of the append's last event.
 */
export async function finishAppend(
  table: RunTable,
  append: Append,
  seen: StoredHead,
  seq = seen.head.seq,
): Promise<Appended> {
  const { run, projection } = append
  await Promise.all([
    projection === undefined ? undefined : writeProjection(table, run, projection),
    ...answered(append, seen).map((id) => closeInbox(table, run, id, append.at)),
    needsSpill(append, seen) ? spillIfPossible(table, run, seen) : undefined,
  ])
  return { ok: true, seq }
}

/** The tail is moved out when it has grown to 8 events, and at 16, where nobody can be faster. */
const SPILL_AT = 8
const SPILL_AGAIN = 8

/** The questions this append leaves nobody to answer: the one it decides, and all of them when it ends the run. */
function answered({ approval, state = 'running' }: Append, { head }: StoredHead): readonly string[] {
  const decided = approval === undefined || approval.set.status === 'pending' ? [] : [approval.id]
  if (state === 'running') return decided
  const open = Object.entries(head.approvals).filter(([, { status }]) => status === 'pending')
  return [...decided, ...open.map(([id]) => id)]
}

/** Whoever makes the tail cross a mark spills; the end of the run spills the rest. */
function needsSpill({ events, state = 'running' }: Append, { tail }: StoredHead): boolean {
  if (state !== 'running') return true
  const marks = (n: number) => Math.max(0, Math.floor((n - SPILL_AT) / SPILL_AGAIN) + 1)
  return marks(tail.length) > marks(tail.length - events.length)
}

/** The append is in HEAD already: if the table is away now, the next writer makes the room it needs. */
async function spillIfPossible(table: RunTable, run: RunKey, seen: StoredHead): Promise<void> {
  try {
    await spill(table, run, seen)
  } catch (error) {
    if (!(error instanceof Fault && error.name === 'Unavailable')) throw error
  }
}
