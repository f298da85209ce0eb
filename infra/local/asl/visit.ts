import type { Json } from '../../../shared/canonical.ts'
import type { FramePlace } from './journal.ts'
import type { Frame } from './live-execution.ts'
import type { States } from './plain-expression.ts'

type InState = Extract<FramePlace, { readonly state: string }>

/** One stay in a state, all its retries included. */
export interface Visit {
  readonly frame: Frame
  readonly name: string
  readonly input: Json
  readonly entered: string
  retries?: number[]
  /** What the journal knew when this process took the state up; good for the first try only. */
  memo?: InState
}

/** `next` undefined: the frame ends with this output. */
export interface Outcome {
  readonly output: Json
  readonly next?: string | undefined
}

/** The state's place with what must survive a kill. */
export function placeOf(visit: Visit, more: Partial<InState> = {}): FramePlace {
  const { name, input, retries } = visit
  return { state: name, input, ...(retries && { retries: [...retries] }), ...more }
}

/** `$states` for an expression of this visit. */
export function statesOf(visit: Visit, more: { readonly result?: Json; readonly errorOutput?: Json } = {}): States {
  return { input: visit.input, ...more, context: contextOf(visit) }
}

function contextOf(visit: Visit): Json {
  const { frame, retries } = visit
  return {
    ...frame.execution.context,
    State: {
      Name: visit.name,
      EnteredTime: visit.entered,
      RetryCount: retries === undefined ? 0 : retries.reduce((sum, used) => sum + used, 0),
    },
    ...(frame.token !== undefined && { Task: { Token: frame.token } }),
    ...(frame.item && { Map: { Item: frame.item } }),
  }
}
