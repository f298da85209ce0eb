import type { Clock, Log } from '../../shared/ports/host.ts'
import { redactForLog } from '../../shared/text/redact.ts'

/** The clock of this machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  turn: () => new Promise((resolve) => setImmediate(resolve)),
  delay: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const due = Date.now() + ms
      let timer: NodeJS.Timeout
      const stop = () => {
        clearTimeout(timer)
        reject(signal?.reason)
      }
      const wait = (rest: number) => {
        timer = setTimeout(
          () => {
            const left = due - Date.now()
            // A cut timer goes on; a timer that fired a moment early is good enough.
            if (left > 1) return wait(left)
            signal?.removeEventListener('abort', stop)
            resolve()
          },
          Math.min(rest, LONGEST_TIMER_MS),
        )
      }
      signal?.addEventListener('abort', stop, { once: true })
      wait(ms)
    }),
}

/** setTimeout counts in 32 bits: more than 24.8 days fire at once. */
const LONGEST_TIMER_MS = 2_147_483_647

/** JSON lines on standard error; standard output belongs to the ready line. Info lines only when asked for. */
export function createLog(verbose: boolean): Log {
  return {
    info: verbose ? (message, facts) => write('info', message, facts) : () => {},
    error: (message, facts) => write('error', message, facts),
  }
}

function write(level: string, message: string, facts: Readonly<Record<string, unknown>> | undefined): void {
  const line = redactForLog({ at: new Date().toISOString(), level, message, ...facts })
  process.stderr.write(`${JSON.stringify(line)}\n`)
}
