import type { Json } from '../../../shared/canonical.ts'
import type { TokenAnswer } from '../../../shared/runs/machine.ts'
import { type Invocation, invoke } from './invoke.ts'
import { type Frame, record } from './live-execution.ts'
import { STOPPED } from './scope.ts'
import { StateError } from './state-error.ts'
import { placeOf, type Visit } from './visit.ts'

/** What a waiting task must not lose in a kill. */
export interface Ticket {
  readonly token: string
  /** ms since 1970. */
  readonly deadline?: number
  /** The function returned before: it is not called again. */
  readonly asked: boolean
}

/** The token of this try: the journalled one after a kill, else a new one, committed before anybody sees it. */
export async function takeToken(visit: Visit, timeoutSeconds: number | undefined): Promise<Ticket> {
  const { frame, memo } = visit
  const { engine } = frame.execution
  if (memo?.token !== undefined) {
    frame.token = memo.token
    engine.tokens.open(memo.token)
    return ticketOf(memo.token, memo.deadline, memo.asked === true)
  }
  const token = Buffer.from(engine.ids.random(32)).toString('base64url')
  const deadline = timeoutSeconds === undefined ? undefined : engine.clock.now() + timeoutSeconds * 1000
  const ticket = ticketOf(token, deadline, false)
  frame.token = token
  engine.tokens.open(token)
  engine.journal.openToken(token, frame.slot)
  record(frame, placeOf(visit, { token, ...(deadline !== undefined && { deadline }) }))
  await engine.persisted()
  return ticket
}

/** Invokes the function and waits for the token's answer, whichever comes first; the function's own error fails the state. */
export function awaitToken(
  visit: Visit,
  ticket: Ticket,
  call: { readonly functionName: string; readonly payload: Json },
): Promise<Json> {
  const { frame } = visit
  const { engine } = frame.execution
  return new Promise((resolve, reject) => {
    if (frame.scope.ended) return reject(STOPPED)
    let invocation: Invocation | undefined
    let left = false
    const leave = (settle: () => void): void => {
      if (left) return
      left = true
      frame.scope.stops.delete(stop)
      if (alarm !== undefined) engine.alarms.cancel(alarm)
      settle()
    }
    const giveUp = (error: Error): void =>
      leave(() => {
        invocation?.abort()
        reject(error)
      })
    const stop = (): void => giveUp(STOPPED)
    const { deadline } = ticket
    const alarm =
      deadline === undefined
        ? undefined
        : engine.alarms.set(deadline, () => giveUp(new StateError('States.Timeout', '')))
    frame.scope.stops.add(stop)
    // An early answer goes on at once; the function may still be at work and is left to finish.
    engine.tokens.wait(ticket.token, (answer) => leave(() => settleWith(answer, resolve, reject)))
    if (left || ticket.asked) return
    invocation = invoke(engine, call.functionName, call.payload)
    invocation.answer.then(
      () => left || markAsked(frame, visit, ticket),
      (error: unknown) => leave(() => reject(error)),
    )
  })
}

function settleWith(answer: TokenAnswer, resolve: (output: Json) => void, reject: (error: Error) => void): void {
  if ('ok' in answer) resolve(answer.ok)
  else reject(new StateError(answer.error, answer.cause))
}

function markAsked(frame: Frame, visit: Visit, ticket: Ticket): void {
  const { token, deadline } = ticket
  record(frame, placeOf(visit, { token, ...(deadline !== undefined && { deadline }), asked: true }))
}

function ticketOf(token: string, deadline: number | undefined, asked: boolean): Ticket {
  return { token, ...(deadline !== undefined && { deadline }), asked }
}
