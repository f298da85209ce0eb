import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda'
import type { Json } from '../../shared/text/json.ts'
import { CLIENT_OPTIONS } from './sdk.ts'

/** The arguments of `lambda:invoke`, as Step Functions takes them. */
interface Invocation {
  readonly FunctionName: string
  readonly Payload: Json
  readonly ClientContext?: string
}

/**
 * What the state `lambda:invoke` of a machine does, from a laptop: the function of a person's account, with their own
 * credentials. Errors are named as Step Functions names them.
 */
export async function invokeFunction(given: Json, abortSignal: AbortSignal) {
  // As run-block wrote it (functions/attempts/native-call.ts).
  const { FunctionName, Payload, ClientContext } = given as unknown as Invocation
  const [, , , region] = FunctionName.split(':')
  const client = new LambdaClient({ ...CLIENT_OPTIONS, ...(region === undefined ? {} : { region }) })
  try {
    const command = new InvokeCommand({
      FunctionName,
      Payload: Buffer.from(JSON.stringify(Payload)),
      ...(ClientContext === undefined ? {} : { ClientContext }),
    })
    const answer = await client.send(command, { abortSignal })
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

function errorTypeOf(text: string): string {
  try {
    const told: unknown = JSON.parse(text)
    return typeof told === 'object' && told !== null && 'errorType' in told ? String(told.errorType) : 'Lambda.Unknown'
  } catch {
    return 'Lambda.Unknown'
  }
}
