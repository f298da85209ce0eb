import type { Json } from '../../../shared/canonical.ts'
import type { MapState } from '../../../shared/compile/asl.ts'
import { type RunFrame, runBranches } from './branches.ts'
import { guarded } from './guarded.ts'
import { countEvents } from './live-execution.ts'
import { nextOf, onward } from './onward.ts'
import { withinLimit } from './payload.ts'
import type { States } from './plain-expression.ts'
import { StateError } from './state-error.ts'
import { compileField } from './template.ts'
import { type Outcome, statesOf, type Visit } from './visit.ts'

/** An inline Map never runs more items at once (Step Functions quota). */
const MOST_AT_ONCE = 40

/** Runs the item processor once an item of Items (else of the input); the result is the list of their outputs. */
export function runMap(state: MapState, visit: Visit, run: RunFrame): Promise<Outcome> {
  return guarded(state, visit, async () => {
    countEvents(visit.frame.execution, 2)
    const items = await itemsOf(state, visit)
    const inputs = await Promise.all(items.map((item, index) => inputOf(state, visit, item, index)))
    countEvents(visit.frame.execution, 2 * items.length)
    const branchOf = (index: number) => ({
      definition: state.ItemProcessor,
      input: inputs[index] ?? null,
      item: { Index: index, Value: items[index] ?? null },
    })
    const result = await runBranches(visit, items.length, widthOf(state), branchOf, run)
    return onward(state, visit, result, nextOf(state))
  })
}

async function itemsOf(state: MapState, visit: Visit): Promise<readonly Json[]> {
  const items = state.Items === undefined ? visit.input : await compileField(state, 'Items')(statesOf(visit))
  if (Array.isArray(items)) return items
  throw new StateError('States.QueryEvaluationError', `Items of "${visit.name}" must be a list, it is ${typeof items}`)
}

async function inputOf(state: MapState, visit: Visit, item: Json, index: number): Promise<Json> {
  if (state.ItemSelector === undefined) return item
  const states = statesOf(visit)
  const context = { ...(states.context as object), Map: { Item: { Index: index, Value: item } } }
  const selected = await compileField(state, 'ItemSelector')({ ...states, context } satisfies States)
  return withinLimit(selected, 'input of an item')
}

/** MaxConcurrency 0 means no limit of the author's. */
function widthOf(state: MapState): number {
  return Math.min(state.MaxConcurrency || MOST_AT_ONCE, MOST_AT_ONCE)
}
