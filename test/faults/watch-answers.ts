import type { Machine } from '../../shared/runs/machine.ts'
import { readOrdinal } from '../../shared/runs/ordinal.ts'
import type { RunKey, RunStore } from '../../shared/runs/run-store.ts'
import { currentInvocation } from './invocation.ts'
import type { Sim } from './sim.ts'

/**
 * 14: the token of a question is answered after HEAD holds the decision, or when the block has ended without it. Who was
 * called with the token and finds nothing to ask (its judge was away, while its twin asked) gives it back: the block is
 * undecided then, and the machine asks again.
 */
export function watchAnswers(
  sim: Sim,
  raw: RunStore,
  runs: ReadonlyMap<string, RunKey>,
  answer: Machine['answer'],
): Machine['answer'] {
  return async (token, result) => {
    if (currentInvocation().name === 'request-approval') return answer(token, result)
    for (const key of runs.values()) {
      for (const id of await undecided(raw, key)) {
        const tokens = await raw.approvalTokens(key, id)
        if (tokens.includes(token)) sim.violate(14, `${key.run_id}: the token of ${id} is answered, it is not decided`)
      }
    }
    return answer(token, result)
  }
}

/** Questions that wait for a person, of blocks that wait for them. */
async function undecided(raw: RunStore, key: RunKey): Promise<readonly string[]> {
  const head = await raw.head(key)
  if (head?.state !== 'running') return []
  const waits = (block: number) => readOrdinal(head.lanes[String(block)] ?? 0).outcome === undefined
  const open = Object.entries(head.approvals).filter(([, { status, block }]) => status === 'pending' && waits(block))
  return open.map(([id]) => id)
}
