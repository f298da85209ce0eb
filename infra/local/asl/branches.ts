import type { Machine as Definition, MapState, ParallelState } from '../../../shared/compile/asl.ts'
import type { Json } from '../../../shared/text/json.ts'
import { countEvents, endScope, type Frame, openScope } from './execution-context.ts'
import { compileField, type StatesVariable } from './expression.ts'
import { withRetryAndCatch } from './retry-and-catch.ts'
import { StateError } from './state-error.ts'
import { leaveState, nextState, type Outcome, statesVariable, type Visit, withinPayloadLimit } from './state-visit.ts'

/** Runs one line of states to its output (run-frame.ts; handed down so that the state files do not import it back). */
type RunFrame = (frame: Frame, definition: Definition, input: Json) => Promise<Json>

interface Branch {
  readonly definition: Definition
  readonly input: Json
  readonly item?: Frame['item']
}

/**
 * Runs `count` branches, at most `width` at a time. The first failure ends the others: their states stop, their
 * invocations are aborted, their results are ignored. Answers the outputs in order.
 */
async function runBranches(
  visit: Visit,
  count: number,
  width: number,
  branch: (index: number) => Branch,
  run: RunFrame,
): Promise<Json> {
  const { frame } = visit
  const { scope, release } = openScope(frame.scope)
  const outputs = new Array<Json>(count)
  let next = 0
  frame.branched = true
  const lane = async (): Promise<void> => {
    while (next < count && !scope.ended) {
      const index = next
      next += 1
      const { definition, input, item } = branch(index)
      outputs[index] = await run(branchFrame(frame, scope, index, item), definition, input)
    }
  }
  const failing = async (): Promise<void> => {
    try {
      await lane()
    } catch (error) {
      endScope(scope)
      throw error
    }
  }
  try {
    await Promise.all(Array.from({ length: Math.min(width, count) }, failing))
    return outputs
  } finally {
    release()
  }
}

function branchFrame(frame: Frame, scope: Frame['scope'], index: number, item: Frame['item']): Frame {
  const { execution, slot } = frame
  const inherited = item ?? frame.item
  return {
    execution,
    scope,
    slot: { execution: execution.journalled, path: `${slot.path}/${index}`, batch: 0 },
    ...(inherited && { item: inherited }),
    branched: false,
  }
}

/** Runs every branch on the same input; the result is the list of their outputs. */
export function runParallel(state: ParallelState, visit: Visit, run: RunFrame): Promise<Outcome> {
  return withRetryAndCatch(state, visit, async () => {
    countEvents(visit.frame.execution, 2)
    const { Arguments, Branches } = state
    const input = Arguments === undefined ? visit.input : await compileField(state, 'Arguments')(statesVariable(visit))
    withinPayloadLimit(input, 'input of the branches')
    const branchOf = (index: number) => ({ definition: Branches[index] ?? NO_BRANCH, input })
    const result = await runBranches(visit, Branches.length, Branches.length, branchOf, run)
    return leaveState(state, visit, result, nextState(state))
  })
}

/** Never run: the index stays below Branches.length. */
const NO_BRANCH = { StartAt: '', States: {} }

/** An inline Map never runs more items at once (Step Functions quota). */
const MOST_AT_ONCE = 40

/** Runs the item processor once an item of Items (else of the input); the result is the list of their outputs. */
export function runMap(state: MapState, visit: Visit, run: RunFrame): Promise<Outcome> {
  return withRetryAndCatch(state, visit, async () => {
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
    return leaveState(state, visit, result, nextState(state))
  })
}

async function itemsOf(state: MapState, visit: Visit): Promise<readonly Json[]> {
  const items = state.Items === undefined ? visit.input : await compileField(state, 'Items')(statesVariable(visit))
  if (Array.isArray(items)) return items
  throw new StateError('States.QueryEvaluationError', `Items of "${visit.name}" must be a list, it is ${typeof items}`)
}

async function inputOf(state: MapState, visit: Visit, item: Json, index: number): Promise<Json> {
  if (state.ItemSelector === undefined) return item
  const states = statesVariable(visit)
  const context = { ...(states.context as object), Map: { Item: { Index: index, Value: item } } }
  const selected = await compileField(state, 'ItemSelector')({ ...states, context } satisfies StatesVariable)
  return withinPayloadLimit(selected, 'input of an item')
}

/** MaxConcurrency 0 means no limit of the author's. */
function widthOf(state: MapState): number {
  return Math.min(state.MaxConcurrency || MOST_AT_ONCE, MOST_AT_ONCE)
}
