import { AWS_QUOTAS } from '../../../shared/aws-quotas.ts'
import type { Json } from '../../../shared/text/json.ts'
import type { Frame } from './execution-context.ts'
import { compileField, type StatesVariable } from './expression.ts'
import type { FramePosition } from './journal.ts'
import { StateError } from './state-error.ts'

type InState = Extract<FramePosition, { readonly state: string }>

/** One stay in a state, all its retries included. */
export interface Visit {
  readonly frame: Frame
  readonly name: string
  readonly input: Json
  readonly entered: string
  retries?: number[]
  /** What the journal knew when this process took the state up; good for the first try only. */
  memo?: InState
  /** It called somebody who would not know it again: that it was left is committed in this turn. */
  isHeard?: boolean
}

/** `next` undefined: the frame ends with this output. */
export interface Outcome {
  readonly output: Json
  readonly next?: string | undefined
}

/** The state's place with what must survive a kill. */
export function framePosition(visit: Visit, more: Partial<InState> = {}): FramePosition {
  const { name, input, retries } = visit
  return { state: name, input, ...(retries && { retries: [...retries] }), ...more }
}

/** `$states` for an expression of this visit. */
export function statesVariable(
  visit: Visit,
  more: { readonly result?: Json; readonly errorOutput?: Json } = {},
): StatesVariable {
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

/** How a state is left: `result` as it is, or what the Output field of the state (or rule) makes of it. */
export function leaveState(
  owner: { readonly Output?: unknown },
  visit: Visit,
  result: Json,
  next: string | undefined,
): Outcome | Promise<Outcome> {
  if (owner.Output === undefined) return { output: withinPayloadLimit(result, 'output'), next }
  const made = compileField(owner, 'Output')(statesVariable(visit, { result }))
  if (made instanceof Promise) return made.then((value) => ({ output: withinPayloadLimit(value, 'output'), next }))
  return { output: withinPayloadLimit(made, 'output'), next }
}

export function nextState(state: { readonly Next: string } | { readonly End: true }): string | undefined {
  return 'Next' in state ? state.Next : undefined
}

const LIMIT_BYTES = AWS_QUOTAS.payload_bytes.most

/** The value, if its JSON text keeps the quota. Throws States.DataLimitExceeded. */
export function withinPayloadLimit(value: Json, what: string): Json {
  measure(JSON.stringify(value), what)
  return value
}

/** What arrives after a trip over the wire: a copy without `undefined`, class instances and shared references. */
export function copyAsJson(value: unknown, what: string): Json {
  const text = JSON.stringify(value) ?? 'null'
  measure(text, what)
  return JSON.parse(text)
}

function measure(text: string, what: string): void {
  // A UTF-16 unit takes at most three bytes.
  if (text.length * 3 <= LIMIT_BYTES) return
  const bytes = Buffer.byteLength(text)
  if (bytes <= LIMIT_BYTES) return
  const cause = `The ${what} has ${bytes} bytes, the limit is ${LIMIT_BYTES}. Pass a reference instead of the data.`
  throw new StateError('States.DataLimitExceeded', cause)
}
