/** Limits of one function. Lambda's share of a core grows with memory: 1,769 MB is one. */
export interface FunctionSize {
  readonly timeoutSec: number
  readonly memoryMb: number
}

/** Explicit for every function; what is not listed answers a request from the table within API Gateway's 29 seconds. */
export function sizeOf(name: string): FunctionSize {
  return SIZES[name] ?? { timeoutSec: 29, memoryMb: 256 }
}

const SIZES: Readonly<Record<string, FunctionSize>> = {
  // A dispatch may take 840 s; its isolate is two processes of at most 64 MB of heap beside it.
  'run-block': { timeoutSec: 900, memoryMb: 1_024 },
  'request-approval': { timeoutSec: 60, memoryMb: 512 },
  // As start-run, and pre-gates in its isolate.
  'open-child': { timeoutSec: 60, memoryMb: 1_024 },
  settle: { timeoutSec: 60, memoryMb: 256 },
  'wait-join': { timeoutSec: 30, memoryMb: 256 },
  // Checking and compiling 1,000 blocks is a second of a whole core.
  'start-run': { timeoutSec: 29, memoryMb: 1_024 },
  'validate-dag': { timeoutSec: 29, memoryMb: 1_024 },
  'plan-dag': { timeoutSec: 29, memoryMb: 1_024 },
  'get-run-graph': { timeoutSec: 29, memoryMb: 1_024 },
  'send-outbox': { timeoutSec: 60, memoryMb: 256 },
  sweep: { timeoutSec: 300, memoryMb: 256 },
  // Open for 14 minutes, waiting for most of them.
  'stream-events': { timeoutSec: 900, memoryMb: 128 },
}
