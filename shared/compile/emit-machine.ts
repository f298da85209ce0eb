import type { Machine, State } from './asl.ts'
import { type Emission, emitBlock, type Onward, type States } from './emit-block.ts'
import { emitExit } from './emit-exit.ts'
import { emitPart } from './emit-part.ts'
import { EPOCH, epochIn } from './epoch.ts'
import { awaitToken, callFunction } from './function-task.ts'
import { exitOf, type NamedSequence, type NamedStep, type Signals } from './name-steps.ts'

/** A year: the run's own deadline lives in the store (design decisions, "Execution input and state names"). */
const MACHINE_TIMEOUT_SEC = 31_536_000

/** The whole machine: the DAG's steps, then `_settle` gives the run its verdict and `_end` the execution its status. */
export function emitMachine({ entry, steps }: NamedSequence, signals: Signals): Machine {
  return machineOf(entry, { ...emitSteps(steps, { signals, epoch: false }, { Next: '_settle' }), ...ENDING })
}

/** A piece of a DAG that is too large for one machine: its steps and nothing else. */
export function emitPiece({ entry, steps }: NamedSequence, signals: Signals): Machine {
  return machineOf(entry, emitSteps(steps, { signals, epoch: false }, { End: true }))
}

function machineOf(entry: string, states: States): Machine {
  return { QueryLanguage: 'JSONata', StartAt: entry, TimeoutSeconds: MACHINE_TIMEOUT_SEC, States: states }
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

function emitSteps(steps: readonly NamedStep[], emission: Emission, onward: Onward): States {
  const states: States = {}
  steps.forEach((step, i) => {
    const next = steps[i + 1]
    Object.assign(states, emitStep(step, emission, next === undefined ? onward : { Next: next.entry }))
  })
  return states
}

/** The states of one step. */
export function emitStep(step: NamedStep, emission: Emission, onward: Onward): States {
  const { signals, epoch } = emission
  switch (step.kind) {
    case 'block':
      return emitBlock(step.block, emission, onward)
    case 'wait': {
      const payload = { join: step.join.id, need: step.join.sources.length, ...epochIn(epoch) }
      const Output = epoch ? { Output: { e: EPOCH } } : {}
      return { [step.entry]: { ...awaitToken('wait-join', payload), ...Output, ...onward } }
    }
    case 'par': {
      const Branches = step.branches.map(
        (branch): Machine => ({ StartAt: branch.entry, States: emitSteps(branch.steps, emission, { End: true }) }),
      )
      // Next to nothing as output: what branches answer never adds up to a payload limit.
      return { [step.entry]: { Type: 'Parallel', Branches, Output: epochIn(epoch), ...onward } }
    }
    case 'module': {
      const { module, body, entry } = step
      const inside = emitSteps(body.steps, { signals, epoch: true }, { Next: exitOf(module) })
      return { ...inside, ...emitExit(module.key, entry, signals.get(exitOf(module)) ?? [], onward) }
    }
    case 'part':
      return emitPart(step.part, onward)
  }
}
