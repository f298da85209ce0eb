import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import * as sdk from '@aws-sdk/client-dynamodb'
import { type DynamodbEmulator, startDynalite, startDynoxide } from '../../emulators/dynamodb.ts'

/** What open-wire.ts gives its thread: where questions come from, and what is rung when an answer is there. */
export interface WireData {
  readonly port: MessagePort
  readonly bell: Int32Array<SharedArrayBuffer>
}

export interface Question {
  /** The class of an SDK command, or `createTable`, `dropTable`, `close`. */
  readonly operation: string
  readonly input?: object
}

export type Answer =
  | { readonly output: unknown }
  | {
      readonly error: Pick<sdk.ConditionalCheckFailedException, 'name' | 'message' | '$metadata'> & {
        readonly Item?: sdk.ConditionalCheckFailedException['Item']
      }
    }

const { port, bell } = workerData as WireData
const dynoxide = await startDynoxide()
const emulator = dynoxide ?? (await startDynalite())
const client = new sdk.DynamoDBClient({ ...emulator.aws, maxAttempts: 1 })

port.on('message', (question: Question) => void answer(question))
parentPort?.postMessage(dynoxide === undefined ? 'dynalite' : 'dynoxide')

async function answer({ operation, input }: Question): Promise<void> {
  if (operation === 'close') {
    client.destroy()
    await emulator.close()
    port.close()
    return
  }
  const answered: Answer = await perform(emulator, operation, input).then(
    (output) => ({ output }),
    ({ name, message, $metadata, Item }) => ({ error: { name, message, $metadata, Item } }),
  )
  port.postMessage(answered)
  Atomics.store(bell, 0, 1)
  Atomics.notify(bell, 0)
}

async function perform(at: DynamodbEmulator, operation: string, input: object | undefined): Promise<unknown> {
  if (operation === 'createTable') return at.createTable()
  if (operation === 'dropTable') return sent(sdk.DeleteTableCommand, input)
  return sent(Reflect.get(sdk, operation), input)
}

function sent(Command: new (input: never) => unknown, input: object | undefined): Promise<unknown> {
  return client.send(new Command(input as never) as never)
}
