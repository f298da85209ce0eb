import { once } from 'node:events'
import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads'
import { ConditionalCheckFailedException, type DynamoDBClient } from '@aws-sdk/client-dynamodb'
import type { Answer, Question, WireData } from './wire-thread.ts'

/** Tables of an emulator in another process, asked with the SDK's own client over HTTP. */
export interface Wire {
  /** Which emulator answers. */
  readonly emulator: string
  createTable(): WireTable
  close(): Promise<void>
}

export interface WireTable {
  /** As of the item store: what a call asks is done within `send`, the answer is a promise that is settled already. */
  readonly client: Pick<DynamoDBClient, 'send'>
  readonly name: string
  drop(): void
}

/**
 * Virtual time stands still while a request is under way: a thread of its own has the client and makes the request,
 * this one sleeps until the answer is there. So the scheduler gives no turn meanwhile, and a seed stays a seed.
 */
export async function openWire(): Promise<Wire> {
  const { port1: port, port2 } = new MessageChannel()
  const bell = new Int32Array(new SharedArrayBuffer(4))
  const workerData: WireData = { port: port2, bell }
  const thread = new Worker(new URL('./wire-thread.ts', import.meta.url), { workerData, transferList: [port2] })
  const [emulator] = (await once(thread, 'message')) as [string]
  // Nothing waits for this port but `ask`.
  port.unref()
  thread.unref()

  const ask = (question: Question): Answer => {
    Atomics.store(bell, 0, 0)
    port.postMessage(question)
    if (Atomics.wait(bell, 0, 0, PATIENCE_MS) === 'timed-out') throw new Error('the emulator does not answer')
    const received = receiveMessageOnPort(port)
    if (received === undefined) throw new Error('the bell rang without an answer')
    return received.message as Answer
  }
  return {
    emulator,
    createTable() {
      const name = String(taken(ask({ operation: 'createTable' })))
      const send = async (command: { readonly input: object }) =>
        taken(ask({ operation: command.constructor.name, input: command.input }))
      return {
        name,
        // The SDK's type has one overload a command.
        client: { send } as unknown as Pick<DynamoDBClient, 'send'>,
        drop: () => void taken(ask({ operation: 'dropTable', input: { TableName: name } })),
      }
    },
    async close() {
      thread.ref()
      const ended = once(thread, 'exit')
      port.postMessage({ operation: 'close' } satisfies Question)
      await ended
      port.close()
    },
  }
}

const PATIENCE_MS = 30_000

/** The answer, or the error as the SDK throws it: threads pass on plain objects only. */
function taken(answer: Answer): unknown {
  if ('output' in answer) return answer.output
  const { name, message, $metadata, Item } = answer.error
  if (name === 'ConditionalCheckFailedException') {
    throw new ConditionalCheckFailedException({ message, $metadata, ...(Item === undefined ? {} : { Item }) })
  }
  throw Object.assign(new Error(message), { name, $metadata })
}
