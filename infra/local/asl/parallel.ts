import type { ParallelState } from '../../../shared/compile/asl.ts'
import { type RunFrame, runBranches } from './branches.ts'
import { guarded } from './guarded.ts'
import { countEvents } from './live-execution.ts'
import { nextOf, onward } from './onward.ts'
import { withinLimit } from './payload.ts'
import { compileField } from './template.ts'
import { type Outcome, statesOf, type Visit } from './visit.ts'

/** Runs every branch on the same input; the result is the list of their outputs. */
export function runParallel(state: ParallelState, visit: Visit, run: RunFrame): Promise<Outcome> {
  return guarded(state, visit, async () => {
    countEvents(visit.frame.execution, 2)
    const { Arguments, Branches } = state
    const input = Arguments === undefined ? visit.input : await compileField(state, 'Arguments')(statesOf(visit))
    withinLimit(input, 'input of the branches')
    const branchOf = (index: number) => ({ definition: Branches[index] ?? NO_BRANCH, input })
    const result = await runBranches(visit, Branches.length, Branches.length, branchOf, run)
    return onward(state, visit, result, nextOf(state))
  })
}

/** Never run: the index stays below Branches.length. */
const NO_BRANCH = { StartAt: '', States: {} }
