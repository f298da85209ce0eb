import { readEvidence } from '../../../shared/goals/evidence.ts'
import { type GoalGateResult, judgeGoal } from '../../../shared/goals/goal-gate.ts'
import { readGoalContract } from '../../../shared/goals/read-contract.ts'

/** The goal gate over plain text and paths. undefined = there is no contract. */
export function evaluateGoalGate(
  contract: unknown,
  notebookOutput: string,
  artifacts: readonly string[],
): GoalGateResult {
  const evidence = readEvidence(
    [{ text: notebookOutput }],
    artifacts.map((name) => ({ name })),
  )
  return judgeGoal(contract === undefined ? undefined : readGoalContract(contract), evidence)
}
