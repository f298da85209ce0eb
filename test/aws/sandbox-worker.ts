import { randomBytes } from 'node:crypto'
import { subscribe } from 'node:diagnostics_channel'
import { parentPort, workerData } from 'node:worker_threads'
import { installLambdaRuntime } from '../emulators/lambda-runtime.ts'
import type { FromSandbox, SandboxData, ToSandbox } from './sandbox-messages.ts'
import { installVirtualTime } from './virtual-time.ts'

/**
 * One sandbox of one function: loads its bundle with nothing but its own environment, then serves one invocation at a
 * time. `crash_after` ends the thread at once when that many answers of AWS have arrived, before the function sees the
 * last one.
 */
const runtime = installLambdaRuntime()
const { index, streams, ahead } = workerData as SandboxData
if (ahead !== undefined) installVirtualTime(ahead)
const { handler } = await import(index)

let answers = 0
let crashAfter = Number.POSITIVE_INFINITY
subscribe('http.client.response.finish', () => {
  answers += 1
  // In a worker this ends the thread only, and nothing of it runs any more.
  if (answers >= crashAfter) process.exit(1)
})

const send = (message: FromSandbox) => parentPort?.postMessage(message)

parentPort?.on('message', async ({ event, request_id, remaining_ms, crash_after }: ToSandbox) => {
  answers = 0
  crashAfter = crash_after ?? Number.POSITIVE_INFINITY
  const end = Date.now() + remaining_ms
  process.env._X_AMZN_TRACE_ID = xrayHeader()
  const context = { awsRequestId: request_id, getRemainingTimeInMillis: () => Math.max(0, end - Date.now()) }
  try {
    if (streams) await stream(event, context)
    else send({ kind: 'answer', text: JSON.stringify(await handler(event, context)) ?? 'null' })
  } catch (thrown) {
    const { name, message, stack = '' } = thrown instanceof Error ? thrown : new Error(String(thrown))
    send({ kind: 'error', name, message, stack })
  }
})
send({ kind: 'ready' })

async function stream(event: unknown, context: Parameters<typeof runtime.call>[2]): Promise<void> {
  const { statusCode, headers, chunks } = await runtime.call(handler, event, context)
  send({ kind: 'head', status: statusCode, headers })
  for await (const chunk of chunks) send({ kind: 'chunk', text: String(chunk) })
  send({ kind: 'answer', text: 'null' })
}

/** As Lambda's runtime sets it, anew for each invocation. */
function xrayHeader(): string {
  const hex = (bytes: number) => randomBytes(bytes).toString('hex')
  return `Root=1-${hex(4)}-${hex(12)};Parent=${hex(8)};Sampled=1`
}
