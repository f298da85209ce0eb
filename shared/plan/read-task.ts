import type { State, TaskState } from '../compile/asl.ts'

/** What a Task of ours asks for, read from its Arguments alone. */
export interface TaskCall {
  /** Placeholder of the function, `RunBlock`, or of the machine of a part, `Part1`. */
  readonly name: string
  readonly block?: string
  readonly joins?: readonly string[]
  readonly join?: string
  readonly need?: number
  readonly module?: number
  readonly phase?: string
  /** It stands in an item of a foreach. */
  readonly isItem: boolean
  /** It stands in a bounce module: joins are kept per epoch. */
  readonly isInModule: boolean
}

export function readTask({ Arguments }: TaskState): TaskCall {
  const { FunctionName, StateMachineArn, Payload = {} } = (Arguments ?? {}) as WrittenArguments
  const { block, joins, join, need, module, phase } = Payload
  return {
    name: (FunctionName ?? StateMachineArn ?? '').slice(2, -1),
    ...(block !== undefined && { block }),
    ...(joins !== undefined && { joins }),
    ...(join !== undefined && { join }),
    ...(need !== undefined && { need }),
    ...(module !== undefined && { module }),
    ...(phase !== undefined && { phase }),
    isItem: 'item' in Payload,
    isInModule: 'e' in Payload,
  }
}

/** The Arguments the compiler writes (shared/compile/function-task.ts). */
interface WrittenArguments {
  readonly FunctionName?: string
  readonly StateMachineArn?: string
  readonly Payload?: {
    readonly block?: string
    readonly joins?: readonly string[]
    readonly join?: string
    readonly need?: number
    readonly module?: number
    readonly phase?: string
  }
}

/** The call of a state, if it is a Task. */
export function callOf(state: State): TaskCall | undefined {
  return state.Type === 'Task' ? readTask(state) : undefined
}
