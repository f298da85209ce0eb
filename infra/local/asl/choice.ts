import type { ChoiceState } from '../../../shared/compile/asl.ts'
import { onward } from './onward.ts'
import { StateError } from './state-error.ts'
import { compileField } from './template.ts'
import { type Outcome, statesOf, type Visit } from './visit.ts'

/** Takes the first rule whose Condition is true, else Default. Output belongs to the rule. */
export async function runChoice(state: ChoiceState, visit: Visit): Promise<Outcome> {
  for (const rule of state.Choices) {
    const holds = await compileField(rule, 'Condition')(statesOf(visit))
    if (holds === true) return onward(rule, visit, visit.input, rule.Next)
    if (holds !== false) throw notBoolean(rule.Condition)
  }
  if (state.Default === undefined) {
    throw new StateError('States.NoChoiceMatched', `No rule of "${visit.name}" matches and it has no Default`)
  }
  return { output: visit.input, next: state.Default }
}

function notBoolean(condition: string): StateError {
  return new StateError('States.QueryEvaluationError', `The Condition '${condition}' must answer true or false`)
}
