import { SFNClient } from '@aws-sdk/client-sfn'
import { afterAll, beforeAll, inject } from 'vitest'
import { type Caller, callerOf } from './caller.ts'
import { type Deployment, deploy } from './deploy.ts'

interface ShippedStack {
  readonly place: Deployment
  readonly caller: Caller
  readonly states: SFNClient
}

/**
 * The shipped documents and settings, deployed before the tests of a file and closed behind them; there when they run.
 * `refusals`: what roles are to refuse in it.
 */
export function shippedStack(refusals: readonly string[] = []): ShippedStack {
  const stack = {} as ShippedStack
  beforeAll(async () => {
    const place = await deploy(inject('assembly'))
    Object.assign(stack, { place, caller: callerOf(place.api.url), states: new SFNClient(place.states.aws) })
  })
  afterAll(async () => {
    stack.states.destroy()
    await stack.place.close(refusals)
  })
  return stack
}
