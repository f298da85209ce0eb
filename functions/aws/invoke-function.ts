import { setTimeout as delay } from 'node:timers/promises'
import { InvokeCommand, type InvokeCommandOutput, LambdaClient } from '@aws-sdk/client-lambda'
import type { Json } from '../../shared/text/json.ts'

/** The arguments of `lambda:invoke`, as Step Functions takes them. */
interface Invocation {
  readonly FunctionName: string
  readonly Payload: Json
  readonly ClientContext?: string
}

/** The state's own time-out aborts it. A call that was not answered is not made again here: the function may be at work. */
const ONE_CALL = { maxAttempts: 1, requestHandler: { connectionTimeout: 5_000, requestTimeout: 0 } } as const

/** Calls that Lambda did not take, in all, and the first wait between two. */
const MOST_CALLS = 5
const WAIT_MS = 500

/**
 * What the state `lambda:invoke` of a machine does, from a laptop: the function of a person's account, with their own
 * credentials. Errors are named as Step Functions names them.
 */
export async function invokeFunction(given: Json, abortSignal: AbortSignal) {
  // As run-block wrote it (functions/attempts/native-call.ts).
  const { FunctionName, Payload, ClientContext } = given as unknown as Invocation
  const [, , , region] = FunctionName.split(':')
  const client = new LambdaClient({ ...ONE_CALL, ...(region === undefined ? {} : { region }) })
  try {
    const command = new InvokeCommand({
      FunctionName,
      Payload: Buffer.from(JSON.stringify(Payload)),
      ...(ClientContext === undefined ? {} : { ClientContext }),
    })
    const answer = await untilTaken(() => client.send(command, { abortSignal }), abortSignal)
    const text = Buffer.from(answer.Payload ?? []).toString('utf8')
    if (answer.FunctionError !== undefined) return { error: errorTypeOf(text), cause: text }
    const payload: Json = text === '' ? null : JSON.parse(text)
    return { payload }
  } catch (error) {
    const name = error instanceof Error ? error.name : 'Unknown'
    return { error: `Lambda.${name}`, cause: error instanceof Error ? error.message : String(error) }
  } finally {
    client.destroy()
  }
}

/** As the state's own Retry does on AWS: of a call that is refused for want of room nothing was done. */
async function untilTaken(call: () => Promise<InvokeCommandOutput>, signal: AbortSignal): Promise<InvokeCommandOutput> {
  for (let made = 1; ; made += 1) {
    try {
      return await call()
    } catch (error) {
      const isThrottled = error instanceof Error && error.name === 'TooManyRequestsException'
      if (!isThrottled || made === MOST_CALLS) throw error
      await delay(WAIT_MS * 2 ** made, undefined, { signal })
    }
  }
}

function errorTypeOf(text: string): string {
  try {
    const told: unknown = JSON.parse(text)
    return typeof told === 'object' && told !== null && 'errorType' in told ? String(told.errorType) : 'Lambda.Unknown'
  } catch {
    return 'Lambda.Unknown'
  }
}
