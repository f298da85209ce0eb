import { MachineSignal } from '../../shared/errors.ts'
import type { Handler } from '../handler.ts'
import { type LambdaContext, leavingError, openInvocation } from './invocation.ts'
import { proxyAnswer, type RouteAnswer } from './lambda-answer.ts'
import { isHttp } from './lambda-event.ts'
import { principalOf } from './principal.ts'
import { openWorld, type WorldParts } from './world.ts'

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
  return async (event, context) => {
    const invocation = openInvocation(world, event, context, isHttp(event) ? principalOf(event) : undefined)
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
    }
  }
}
