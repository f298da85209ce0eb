import type { Dag } from '../../shared/dag/dag.ts'
import { INVARIANTS } from '../../shared/invariants/check-run.ts'
import type { RunParts, StoredRun } from '../../shared/invariants/invariant.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import { isRunEnd } from '../../shared/runs/event-types.ts'
import { foldRun } from '../../shared/runs/fold-run.ts'
import { hashAfter } from '../../shared/runs/hash-chain.ts'

/** What is wrong with the log of an ended run of this document, by the invariants of its events; empty = nothing. */
export function brokenInvariants(
  events: readonly RunEvent[],
  dag: Dag,
  more: Omit<StoredRun, 'events' | 'dag'> = {},
): readonly string[] {
  const wrong = [...logProblems({ ...more, events, dag })]
  if (!isRunEnd(events.at(-1)?.type ?? '')) wrong.push(`4: the last event is ${events.at(-1)?.type}`)
  if (hashAfter(events).length !== 64) wrong.push('no hash chain')
  if (foldRun(events).seq !== events.length) wrong.push('the fold did not reach the last event')
  return wrong
}

/** What the checks of events alone say. Each problem begins with its number. */
function logProblems(run: StoredRun): readonly string[] {
  return INVARIANTS.filter(({ of, needs }) => of === 'log' && needs.every((part) => run[part] !== undefined)).flatMap(
    (one) => {
      // The parts it needs are there.
      const problems = one.check(run as RunParts)
      return Array.isArray(problems) ? problems.map((problem) => `${one.n}: ${problem}`) : []
    },
  )
}
