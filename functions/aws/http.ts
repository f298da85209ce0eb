import type { LambdaClientConfig } from '@aws-sdk/client-lambda'
import type { GuardedAnswer, Http } from '../../shared/gates/gate-ports.ts'
import { createCall } from './call-function.ts'
import type { Core } from './world.ts'

/** The Http port: a call of net-gate, whose role can do nothing, so that no request is made with rights of the caller. */
export function openHttp(core: Pick<Core, 'env'>, config: LambdaClientConfig = {}): Http {
  const call = createCall<GuardedAnswer>(core, 'net-gate', config)
  return { request: (request) => call(request, request.timeout_ms) }
}
