import { redact } from '../../shared/redact.ts'
import type { Log } from '../../shared/world.ts'

/** What each line of a function says besides its message. */
export interface LogOptions {
  readonly level: 'info' | 'error'
  readonly facts: Readonly<Record<string, unknown>>
  /** Default: standard output, which Lambda hands to CloudWatch line by line. */
  readonly write?: (line: string) => void
}

/**
 * JSON lines. An error line is also a metric (EMF): `unexpected_errors` of namespace Sluice by stage and function, what
 * the alarms look at; signals and faults the caller has to mend are no error lines (docs/observability.md, "Metrics").
 * Not @aws-lambda-powertools: docs/adr/0060.
 */
export function createLog({ level, facts: common, write = writeLine }: LogOptions): Log {
  const line = (of: 'info' | 'error', message: string, facts: Readonly<Record<string, unknown>> = {}): void => {
    const at = Date.now()
    const said = redact({ at: new Date(at).toISOString(), level: of, message, ...common, ...facts })
    write(JSON.stringify(of === 'error' ? { ...Object(said), ...metric(at) } : said))
  }
  return {
    info: level === 'info' ? (message, facts) => line('info', message, facts) : () => {},
    error: (message, facts) => line('error', message, facts),
  }
}

function writeLine(line: string): void {
  process.stdout.write(`${line}\n`)
}

function metric(at: number) {
  const Metrics = [{ Name: 'unexpected_errors', Unit: 'Count' }]
  const CloudWatchMetrics = [{ Namespace: 'Sluice', Dimensions: [['stage', 'function']], Metrics }]
  return { unexpected_errors: 1, _aws: { Timestamp: at, CloudWatchMetrics } }
}
