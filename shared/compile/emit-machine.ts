import type { Machine, State } from './asl.ts'
import { emitBlock, type Onward } from './emit-block.ts'
import { awaitToken, callFunction } from './function-task.ts'
import type { NamedSequence, NamedStep } from './name-steps.ts'

/** By block id: ids of the joins the block signals. */
export type Signals = ReadonlyMap<string, readonly string[]>

/** A year: the run's own deadline lives in the store (design decisions, "Execution input and state names"). */
const MACHINE_TIMEOUT_SEC = 31_536_000

/** The whole machine: the DAG's steps, then `_settle` gives the run its verdict and `_end` the execution its status. */
export function emitMachine({ entry, steps }: NamedSequence, signals: Signals): Machine {
  return {
    QueryLanguage: 'JSONata',
    StartAt: entry,
    TimeoutSeconds: MACHINE_TIMEOUT_SEC,
    States: { ...emitSteps(steps, signals, { Next: '_settle' }), ...ENDING },
  }
}

const ENDING: Readonly<Record<string, State>> = {
  _settle: { ...callFunction('settle'), Output: '{% $states.result.Payload %}', Next: '_end' },
  _end: {
    Type: 'Choice',
    Choices: [
      { Condition: "{% $states.input.end in ['completed', 'partial', 'blocked', 'iterated'] %}", Next: '_done' },
    ],
    Default: '_failed',
  },
  _done: { Type: 'Succeed' },
  _failed: {
    Type: 'Fail',
    Error: 'RunFailed',
    // A run that was cancelled has an end but no code.
    Cause: "{% $states.input.(code ? code : end) & ' ' & $states.context.Execution.Input.run_id %}",
  },
}

function emitSteps(steps: readonly NamedStep[], signals: Signals, onward: Onward): Record<string, State> {
  const states: Record<string, State> = {}
  steps.forEach((step, i) => {
    const next = steps[i + 1]
    Object.assign(states, emitStep(step, signals, next === undefined ? onward : { Next: next.entry }))
  })
  return states
}

function emitStep(step: NamedStep, signals: Signals, onward: Onward): Record<string, State> {
  switch (step.kind) {
    case 'block':
      return emitBlock(step.block, signals.get(step.block.id) ?? [], onward)
    case 'wait': {
      const { id, sources } = step.join
      return { [step.entry]: { ...awaitToken('wait-join', { join: id, need: sources.length }), ...onward } }
    }
    case 'par': {
      const Branches = step.branches.map(
        (branch): Machine => ({ StartAt: branch.entry, States: emitSteps(branch.steps, signals, { End: true }) }),
      )
      // An empty output: what branches answer never adds up to a payload limit.
      return { [step.entry]: { Type: 'Parallel', Branches, Output: {}, ...onward } }
    }
  }
}
