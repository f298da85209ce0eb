import { MachineSignal } from '../../shared/errors.ts'
import type { Handler } from '../handler.ts'
import { type LambdaContext, leavingError, openInvocation } from './invocation.ts'
import { proxyAnswer, type RouteAnswer } from './lambda-answer.ts'
import { isHttp } from './lambda-event.ts'
import { principalOf } from './principal.ts'
import { openWorld, type WorldParts } from './world.ts'

/** What the end of an invocation waits for a collector at the most, and what is left of its time then. */
const FLUSH_MS = 1_000
const SPARE_MS = 300

export interface EntryParts extends WorldParts {
  readonly handler: Handler
}

export type LambdaHandler = (event: unknown, context: LambdaContext) => Promise<unknown>

/**
 * The handler Lambda calls, made of one of ours and its ports. A generated entry is
 * `export const handler = lambdaEntry({ name, handler: run, ports: { runs: openRunStore } })`; the World is opened
 * when the sandbox starts, so a missing value fails the start with its name.
 */
export function lambdaEntry({ handler, ...parts }: EntryParts, env?: NodeJS.ProcessEnv): LambdaHandler {
  const world = openWorld(parts, env)
  const principal = (event: unknown) =>
    isHttp(event) ? principalOf(event, world.settings.iam_tenants, world.settings.iam_people) : undefined
  return async (event, context) => {
    const invocation = openInvocation(world, event, context, principal(event))
    try {
      const answer = await handler(invocation.event, invocation.context)
      // Routes are made by functions/http-handler.ts, which answers this shape.
      return isHttp(event) ? proxyAnswer(answer as RouteAnswer) : answer
    } catch (error) {
      // The wrappers in functions/ have told that it failed; here is where, with its causes.
      if (!(error instanceof MachineSignal)) invocation.context.world.log.info('function left with', { error })
      throw leavingError(error)
    } finally {
      invocation.end()
      await world.telemetry?.flush(Math.min(FLUSH_MS, context.getRemainingTimeInMillis() - SPARE_MS))
    }
  }
}
