/** The part of the Amazon States Language we emit (JSONata only). Source: states-language.net, AWS docs. */
export interface Retrier {
  readonly ErrorEquals: readonly string[]
  /** 1 where it is left out. */
  readonly IntervalSeconds?: number
  /** 2 where it is left out. */
  readonly BackoffRate?: number
  readonly MaxAttempts: number
  readonly MaxDelaySeconds?: number
  readonly JitterStrategy?: 'FULL' | 'NONE'
}

export interface Catcher {
  readonly ErrorEquals: readonly string[]
  readonly Next: string
  /** An object or a `{% JSONata %}` expression. */
  readonly Output?: unknown
}

interface Common {
  readonly Comment?: string
  readonly Output?: unknown
}

type Onward = { readonly Next: string } | { readonly End: true }

export type TaskState = Common &
  Onward & {
    readonly Type: 'Task'
    readonly Resource: string
    readonly Arguments?: unknown
    /** Seconds, or a `{% JSONata %}` expression of them. */
    readonly TimeoutSeconds?: number | string
    /** Of a wait for a token: it is over when nobody said for so long that the work goes on. */
    readonly HeartbeatSeconds?: number
    readonly Retry?: readonly Retrier[]
    readonly Catch?: readonly Catcher[]
  }

export type ParallelState = Common &
  Onward & {
    readonly Type: 'Parallel'
    readonly Arguments?: unknown
    readonly Branches: readonly Machine[]
    readonly Retry?: readonly Retrier[]
    readonly Catch?: readonly Catcher[]
  }

export type MapState = Common &
  Onward & {
    readonly Type: 'Map'
    readonly Items?: unknown
    readonly ItemSelector?: unknown
    readonly ItemProcessor: Machine & { readonly ProcessorConfig?: { readonly Mode: 'INLINE' } }
    readonly MaxConcurrency?: number
    readonly Retry?: readonly Retrier[]
    readonly Catch?: readonly Catcher[]
  }

export type PassState = Common & Onward & { readonly Type: 'Pass' }
export type WaitState = Common &
  Onward & { readonly Type: 'Wait'; readonly Seconds?: number | string; readonly Timestamp?: string }
export type ChoiceState = Common & {
  readonly Type: 'Choice'
  readonly Choices: readonly { readonly Condition: string; readonly Next: string; readonly Output?: unknown }[]
  readonly Default?: string
}
export type SucceedState = Common & { readonly Type: 'Succeed' }
export type FailState = {
  readonly Comment?: string
  readonly Type: 'Fail'
  readonly Error?: string
  readonly Cause?: string
}

export type State =
  | TaskState
  | ParallelState
  | MapState
  | PassState
  | WaitState
  | ChoiceState
  | SucceedState
  | FailState

/** A machine or one branch: a set of states and where it starts. */
export interface Machine {
  readonly Comment?: string
  readonly QueryLanguage?: 'JSONata'
  readonly StartAt: string
  readonly TimeoutSeconds?: number
  readonly States: Readonly<Record<string, State>>
}
