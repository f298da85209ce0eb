import { SFNClient } from '@aws-sdk/client-sfn'
import { afterAll, beforeAll, inject } from 'vitest'
import { openSignedTarget } from '../../clients/cli/aws/signed-target.ts'
import { type Caller, callerOf } from './caller.ts'
import { type Deployment, deploy } from './deploy.ts'

interface ShippedStack {
  readonly place: Deployment
  readonly caller: Caller
  readonly states: SFNClient
}

/** Address of a stage in somebody's account (`npm run prove:aws`): what asks by HTTP alone is asked of it. */
const against = process.env.SLUICE_AGAINST

/**
 * The shipped documents and settings, deployed before the tests of a file and closed behind them; there when they run.
 * `refusals`: what roles are to refuse in it.
 */
export function shippedStack(refusals: readonly string[] = []): ShippedStack {
  const stack = {} as ShippedStack
  beforeAll(async () => {
    if (against !== undefined) {
      const { url, sign } = await openSignedTarget({ url: against })
      return void Object.assign(stack, { caller: callerOf(url, sign) })
    }
    const place = await deploy(inject('assembly'))
    Object.assign(stack, { place, caller: callerOf(place.api.url), states: new SFNClient(place.states.aws) })
  })
  afterAll(async () => {
    if (against !== undefined) return
    stack.states.destroy()
    await stack.place.close(refusals)
  })
  return stack
}
