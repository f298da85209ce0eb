import { Fault } from '../../shared/errors.ts'
import type { KeyRef } from '../../shared/key-settings.ts'
import type { Settings } from '../../shared/settings.ts'
import { callSpan } from '../../shared/telemetry/call-span.ts'
import type { Attributes, Span, SpanLink } from '../../shared/telemetry/span.ts'
import type { Telemetry } from '../../shared/telemetry/telemetry-port.ts'
import type { TelemetrySettings } from '../../shared/telemetry/telemetry-settings.ts'
import { tracedRuns } from '../../shared/telemetry/traced-runs.ts'
import type { Clock, Ids } from '../../shared/world.ts'
import { postSpans } from './post-spans.ts'
import { createSpanQueue } from './span-queue.ts'

export interface TelemetryPlace {
  readonly telemetry: TelemetrySettings
  readonly providers: Settings['providers']
  readonly clock: Pick<Clock, 'now'>
  readonly ids: Pick<Ids, 'random'>
  /** Of this place, besides the name of the service. */
  readonly resource: Attributes
  /** A value of a header, as this place keeps it. */
  readKey(key: KeyRef): Promise<string>
  /** The other trace this process is in right now, such as X-Ray's. */
  link?(): SpanLink | undefined
  /** Said once an outage: it is the operator's, no error of a run. */
  tell(message: string, facts: Readonly<Record<string, unknown>>): void
  /** 0 = only when it is flushed. */
  readonly every_ms: number
}

/** The Telemetry port of both places: spans of calls, attempts and runs, sent as OTLP. */
export function openTelemetry(place: TelemetryPlace): Telemetry {
  const { telemetry, providers, clock, ids, tell, every_ms, link = () => undefined } = place
  const { endpoint, headers, capture_content } = telemetry.otlp
  const resource = { 'service.name': 'sluice', ...place.resource }
  const collector = { endpoint, resource, headers: () => readHeaders(headers, place.readKey) }
  const queue = createSpanQueue({
    post: (spans, signal) => postSpans(collector, spans, signal),
    tell,
    now: clock.now,
    every_ms,
  })
  const add = (spans: Promise<readonly Span[]>) => {
    const other = link()
    const linked = (span: Span) => (other === undefined ? span : { ...span, links: [...span.links, other] })
    queue.add(spans.then((all) => all.map(linked)))
  }
  return {
    called: (call) => add(Promise.resolve([callSpan(call, { providers, capture_content, span_id: randomId(ids) })])),
    watch: (runs) => tracedRuns(runs, add),
    flush: queue.flush,
  }
}

/** Of a call: the same one may be made again by who does not know of the first. */
function randomId({ random }: Pick<Ids, 'random'>): string {
  return Buffer.from(random(8)).toString('hex')
}

async function readHeaders(
  headers: TelemetrySettings['otlp']['headers'],
  readKey: TelemetryPlace['readKey'],
): Promise<Readonly<Record<string, string>>> {
  const read = Object.entries(headers).map(async ([name, key]) => [name, usable(name, await readKey(key))] as const)
  return Object.fromEntries(await Promise.all(read))
}

/** fetch puts a header it refuses into its error, so it is never asked to send one. Files often end in a line break. */
function usable(name: string, text: string): string {
  const value = text.trim()
  if (/^[\x20-\x7e]{1,8192}$/.test(value)) return value
  const message = `Cannot send spans: the value of header "${name}" is blank or holds characters no header can carry. Store printable ASCII.`
  throw new Fault('InvalidInput', 'telemetry_key_missing', message)
}
