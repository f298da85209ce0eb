import { MachineSignal } from '../../shared/errors.ts'
import { invocationLog } from '../../shared/invocation-log.ts'
import type { Principal } from '../../shared/principal.ts'
import { redactText } from '../../shared/redact.ts'
import type { World } from '../../shared/world.ts'
import type { HostContext } from '../handler.ts'
import { readLambdaEvent } from './lambda-event.ts'
import { xrayTrace } from './xray-trace.ts'

/** The part of Lambda's context that is used. */
export interface LambdaContext {
  readonly awsRequestId: string
  getRemainingTimeInMillis(): number
}

/** One call of a handler: what it is given, and the way to let go of it. */
export interface Invocation {
  readonly event: unknown
  readonly context: HostContext & { readonly principal?: Principal; readonly signal: AbortSignal }
  end(): void
}

/** Kept for recording the outcome before Lambda ends the function: a second or two are enough. */
const GRACE_MS = 1_500

/**
 * Turns Lambda's (event, context) into ours: the World with a log that names the request and its trace, who calls if anybody was
 * authenticated, and a signal that aborts 1.5 s before the time is up.
 */
export function openInvocation(
  world: World,
  event: unknown,
  lambda: LambdaContext,
  principal: Principal | undefined,
): Invocation {
  const control = new AbortController()
  const left = lambda.getRemainingTimeInMillis() - GRACE_MS
  const timer = setTimeout(() => control.abort(OUT_OF_TIME), Math.max(0, left))
  // The World's ports may be getters that refuse: it is inherited, not copied.
  const log = invocationLog(world.log, { request_id: lambda.awsRequestId, ...xrayFacts() })
  const own: World = Object.create(world, { log: { value: log, enumerable: true } })
  return {
    event: readLambdaEvent(event),
    context: { world: own, signal: control.signal, ...(principal === undefined ? {} : { principal }) },
    end: () => clearTimeout(timer),
  }
}

/**
 * What leaves the function when a handler throws. ASL matches `name`, so it stays; the machine's signals have an empty
 * stack because the machine parses Cause, everybody else because a stack would stand in the execution's history.
 */
export function leavingError(thrown: unknown): Error {
  const { name, message } = thrown instanceof Error ? thrown : { name: 'Error', message: String(thrown) }
  const leaving = new Error(thrown instanceof MachineSignal ? message : redactText(message))
  leaving.name = name
  leaving.stack = ''
  return leaving
}

const OUT_OF_TIME = new Error('the time of this invocation is nearly over')

/** Under the name other loggers of Lambda use. */
function xrayFacts(): { readonly xray_trace_id?: string } {
  const root = xrayTrace()?.root
  return root === undefined ? {} : { xray_trace_id: root }
}
