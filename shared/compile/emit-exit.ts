import type { Onward, States } from './emit-block.ts'
import { EPOCH } from './epoch.ts'
import { callFunction } from './function-task.ts'

/**
 * The exit of a bounce module: close-module decides in the store whether it runs again; then back to its first state
 * with the next epoch, else onward with an empty output, so that no epoch is seen outside. `joins` are those outside
 * that wait for the module. A Choice cannot end a branch: where nothing follows, `_left_<k>` does.
 */
export function emitExit(module: number, entry: string, joins: readonly string[], onward: Onward): States {
  const left = `_left_${module}`
  return {
    [`_close_${module}`]: {
      ...callFunction('close-module', { module, e: EPOCH, ...(joins.length === 0 ? {} : { joins }) }),
      Output: "{% $states.result.Payload.again ? {'e': $states.result.Payload.e} : {} %}",
      Next: `_bounce_${module}`,
    },
    [`_bounce_${module}`]: {
      Type: 'Choice',
      Choices: [{ Condition: '{% $exists($states.input.e) %}', Next: entry }],
      Default: 'Next' in onward ? onward.Next : left,
    },
    ...('Next' in onward ? {} : { [left]: { Type: 'Succeed' } }),
  }
}
