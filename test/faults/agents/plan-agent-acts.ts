import { chance, upTo } from '../../integration/random-runs.ts'
import type { Act } from '../acts.ts'
import type { Random } from '../rng.ts'

const FIRST_AGENT_ACT = 11_000

/** As soon as a run is over somebody tries it again from a turn of its agent; now and then twice, and from the same. */
export function planAgentActs(random: Random, runs: number): readonly Act[] {
  if (!chance(random, 0.4)) return []
  return Array.from({ length: 1 + upTo(random, 1) }, (_, i): Act => {
    const dice = [random(), random(), random()] as const
    return { id: FIRST_AGENT_ACT + i, at: 0, kind: 'retry_turns', run: upTo(random, runs - 1), dice }
  })
}
