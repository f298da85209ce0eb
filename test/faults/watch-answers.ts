import type { Head } from '../../shared/runs/head.ts'
import { readOrdinal } from '../../shared/runs/lane.ts'
import type { Machine } from '../../shared/runs/machine.ts'
import { currentInvocation, type Invocation } from './invocation.ts'
import type { System } from './system.ts'

interface AnswerWatch {
  readonly answer: Machine['answer']
  /** An invocation stored the token of a question. */
  asked(invocation: Invocation, token: string): void
}

/**
 * 14: the token of a question is answered after HEAD holds the decision, or when the block has ended without it. Who was
 * called with the token, did not store it, and finds nothing to ask (its judge was away, while its twin asked) gives it
 * back: the block is undecided then, and the machine asks again. Nor does a token count that no state waits on any more
 * (the state was retried with another): a call that comes late may bring one to a question that is still open.
 */
export function watchAnswers(
  { sim, raw, runs, heads }: Pick<System, 'sim' | 'raw' | 'runs' | 'heads'>,
  real: Machine['answer'],
): AnswerWatch {
  const stored = new WeakMap<Invocation, string>()
  const answer: Machine['answer'] = async (token, result) => {
    const invocation = currentInvocation()
    if (invocation.name === 'request-approval' && stored.get(invocation) !== token) return real(token, result)
    const open = await openQuestions(token)
    const took = await real(token, result)
    for (const words of took === 'taken' ? open : []) sim.violate(14, words)
    return took
  }
  const openQuestions = async (token: string): Promise<readonly string[]> => {
    const found: string[] = []
    for (const key of runs.values()) {
      for (const id of undecided(heads.get(key.run_id))) {
        const tokens = await raw.approvalTokens(key, id)
        if (tokens.includes(token)) found.push(`${key.run_id}: the token of ${id} is answered, it is not decided`)
      }
    }
    return found
  }
  return { answer, asked: (invocation, token) => void stored.set(invocation, token) }
}

/** Questions that wait for a person, of blocks that wait for them. */
function undecided(head: Head | undefined): readonly string[] {
  if (head?.state !== 'running') return []
  const waits = (block: number) => readOrdinal(head.lanes[String(block)] ?? 0).outcome === undefined
  const open = Object.entries(head.approvals).filter(([, { status, block }]) => status === 'pending' && waits(block))
  return open.map(([id]) => id)
}
