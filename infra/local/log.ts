import { redact } from '../../shared/redact.ts'
import type { Log } from '../../shared/world.ts'

/** JSON lines on standard error; standard output belongs to the ready line. Info lines only when asked for. */
export function createLog(verbose: boolean): Log {
  return {
    info: verbose ? (message, facts) => write('info', message, facts) : () => {},
    error: (message, facts) => write('error', message, facts),
  }
}

function write(level: string, message: string, facts: Readonly<Record<string, unknown>> | undefined): void {
  const line = redact({ at: new Date().toISOString(), level, message, ...facts })
  process.stderr.write(`${JSON.stringify(line)}\n`)
}
