import { DECISION_TABLE, type DecisionRow } from '../../../../shared/goals/decision-table.ts'
import type { operations } from '../../../api/schema.generated.ts'

/** A row of the decision table as it is drawn. */
export interface MatrixCell extends DecisionRow {
  /** The one that decided this run. */
  readonly applies: boolean
}

/** The decision table by goal (lines) and trust (columns), with the row named `PASS x NOT_MET`, if it is one, marked. */
export function goalMatrix(
  row: string | null,
): readonly { readonly goal: string; readonly cells: readonly MatrixCell[] }[] {
  const cells = DECISION_TABLE.map((one) => ({ ...one, applies: row === `${one.trust} x ${one.goal}` }))
  return [...Map.groupBy(cells, ({ goal }) => goal)].map(([goal, group]) => ({
    goal,
    cells: TRUSTS.flatMap((trust) => group.filter((one) => one.trust === trust)),
  }))
}

export const TRUSTS = ['PASS', 'FAIL'] as const

/** What is to be done next, as the table says it. */
export function actionWords(action: string): string {
  return Object.hasOwn(ACTIONS, action) ? (ACTIONS[action] ?? action) : action.replaceAll('_', ' ')
}

const ACTIONS: Readonly<Record<string, string>> = {
  accept: 'accept the result',
  pivot: 'try again another way',
  none: 'nothing more',
  rework_trust: 'make the evidence hold',
  rework_and_pivot: 'make the evidence hold and try another way',
  fix_quality: 'fix the quality',
}

export type GoalAnswer = operations['get-goal']['responses'][200]['content']['application/json']
