import { Worker } from 'node:worker_threads'

export type PdfReply = { readonly text: string; readonly title?: string } | { readonly refused: string }

/** Of one file. Thousands of pages take seconds; some of a hundred kilobytes would take hours, or all memory there is. */
export interface PdfBounds {
  readonly ms: number
  readonly mb: number
}
const BOUNDS: PdfBounds = { ms: 60_000, mb: 768 }

/** How often memory is looked at. */
const LOOK_MS = 50
const BYTES_A_MB = 1_048_576

/** Reads one file after the other; absent before the first, and after one that had to be stopped. */
let reader: Worker | undefined

/** In a thread of its own: a parser that does not come back is stopped with it. Throws what the parser says, or which bound was met. */
export async function readPdfText(
  bytes: Uint8Array,
  { ms, mb }: PdfBounds = BOUNDS,
): Promise<{ readonly text: string; readonly title?: string }> {
  const thread = reader ?? start()
  reader = thread
  const rested = process.memoryUsage.rss()
  const began = performance.now()
  const over = () => {
    if (performance.now() - began > ms) return `it takes longer than ${ms / 1_000} s`
    return process.memoryUsage.rss() - rested > mb * BYTES_A_MB ? `it takes more than ${mb} MB of memory` : undefined
  }
  const reply = await new Promise<PdfReply>((resolve) => {
    const end = (answer: PdfReply) => {
      clearInterval(timer)
      thread.off('message', end).off('error', fail).off('exit', gone)
      resolve(answer)
    }
    const stop = (refused: string) => {
      reader = undefined
      void thread.terminate()
      end({ refused })
    }
    const fail = ({ message }: Error) => stop(message)
    const gone = () => stop('its reader ended')
    const timer = setInterval(() => {
      const refused = over()
      if (refused !== undefined) stop(refused)
    }, LOOK_MS)
    thread.on('message', end).on('error', fail).on('exit', gone)
    thread.postMessage(bytes)
  })
  if ('refused' in reply) throw new TypeError(reply.refused)
  return reply
}

function start(): Worker {
  const thread = new Worker(new URL('./pdf-worker.ts', import.meta.url))
  // It waits for files; nobody waits for it.
  thread.unref()
  return thread
}
