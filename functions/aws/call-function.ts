import { InvokeCommand, LambdaClient, type LambdaClientConfig } from '@aws-sdk/client-lambda'
import { Fault } from '../../shared/errors.ts'
import { CLIENT_OPTIONS } from './client-options.ts'
import { functionArn } from './named-setting.ts'
import { sdkFault } from './sdk-fault.ts'
import type { Core } from './world.ts'

/** Longer than the function's own limits: whoever gives up first must be the function. */
const SLACK_MS = 12_000

/**
 * Calls another function of the catalog and waits for its answer, which is of the type its handler gives. It is not
 * called again on a lost answer: a webhook would hear twice. Fault Unavailable function_failed, and those of the SDK.
 */
export function createCall<Answer>(
  { env }: Pick<Core, 'env'>,
  name: string,
  config: LambdaClientConfig = {},
): (payload: unknown, ms: number) => Promise<Answer> {
  const client = new LambdaClient({ ...CLIENT_OPTIONS, maxAttempts: 1, ...config })
  return async (payload, ms) => {
    const command = new InvokeCommand({ FunctionName: functionArn(env, name), Payload: JSON.stringify(payload) })
    const answer = await client.send(command, { requestTimeout: ms + SLACK_MS }).catch((error: unknown) => {
      throw sdkFault(error, { doing: `call ${name}`, action: 'lambda:InvokeFunction' })
    })
    if (answer.FunctionError !== undefined || answer.Payload === undefined) throw failed(name)
    return JSON.parse(answer.Payload.transformToString())
  }
}

/** Its own words stand in its own log. */
function failed(name: string): Fault {
  return new Fault('Unavailable', 'function_failed', `Function "${name}" broke off. Its log says why.`)
}
