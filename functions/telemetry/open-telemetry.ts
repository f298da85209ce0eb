import { Fault } from '../../shared/errors.ts'
import type { Clock, Ids } from '../../shared/ports/host.ts'
import type { KeyRef } from '../../shared/ports/secrets.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import { callSpan } from '../../shared/telemetry/call-span.ts'
import { type Attributes, otlpJson, type Span, type SpanLink } from '../../shared/telemetry/otlp-spans.ts'
import { tracedRuns } from '../../shared/telemetry/run-spans.ts'
import type { TelemetrySettings } from '../../shared/telemetry/settings.ts'
import type { Telemetry } from '../../shared/telemetry/telemetry-port.ts'
import { createSpanQueue, type Posted } from './span-queue.ts'

interface TelemetryPlace {
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
    watch: (runs) => tracedRuns(runs, { providers, capture_content }, add),
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

interface Collector {
  /** As sluice.yaml has it: without the path. */
  readonly endpoint: string
  readonly resource: Attributes
  /** Reads what is held by reference, each time: secrets are rotated. */
  headers(): Promise<Readonly<Record<string, string>>>
}

/** Of the specification's table: all other answers mean that it will never be taken. */
const LATER: ReadonlySet<number> = new Set([429, 502, 503, 504])
const MOST_WAIT_MS = 60_000
/** Of an answer: a message about what was rejected. */
const MOST_BYTES = 16_384

/** One OTLP request, over HTTP as JSON. It never throws. Source: OTLP specification, "OTLP/HTTP". */
async function postSpans(collector: Collector, spans: readonly Span[], signal: AbortSignal): Promise<Posted> {
  try {
    const headers = await collector.headers()
    const answer = await fetch(tracesUrl(collector.endpoint), {
      method: 'POST',
      // What is in headers belongs to this endpoint and no other.
      redirect: 'error',
      headers: { 'user-agent': 'sluice', ...headers, 'content-type': 'application/json' },
      body: otlpJson(collector.resource, spans),
      signal,
    })
    return await readPosted(answer)
  } catch (error) {
    return { kind: 'later', why: signal.aborted ? 'no answer in time' : causeOf(error) }
  }
}

function tracesUrl(endpoint: string): string {
  const url = new URL(endpoint)
  const path = url.pathname.replace(/\/+$/, '')
  url.pathname = path.endsWith('/v1/traces') ? path : `${path}/v1/traces`
  return url.href
}

async function readPosted(answer: Response): Promise<Posted> {
  const { status } = answer
  if (status >= 200 && status <= 299) return partOf(await startOf(answer))
  await answer.body?.cancel()
  const why = `it answered ${status}`
  if (!LATER.has(status)) return { kind: 'refused', why }
  const seconds = Number(answer.headers.get('retry-after') ?? Number.NaN)
  const wait = Number.isFinite(seconds) ? { wait_ms: Math.min(MOST_WAIT_MS, Math.max(0, seconds * 1_000)) } : {}
  return { kind: 'later', why, ...wait }
}

/** A request that was taken may say which part of it was not: that part is lost, it must not be sent again. */
function partOf(text: string): Posted {
  const { partialSuccess } = objectOf(text)
  if (typeof partialSuccess !== 'object' || partialSuccess === null) return { kind: 'taken', rejected: 0 }
  const { rejectedSpans, errorMessage } = partialSuccess as Readonly<Record<string, unknown>>
  const rejected = Number(rejectedSpans ?? 0)
  if (!(rejected > 0)) return { kind: 'taken', rejected: 0 }
  return { kind: 'taken', rejected, why: `it rejected spans: ${String(errorMessage ?? '').slice(0, 200)}` }
}

function objectOf(text: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text))
  } catch {
    return {}
  }
}

async function startOf(answer: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of answer.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > MOST_BYTES) break
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** A code says enough; fetch's own words quote addresses, and headers it does not take. */
function causeOf(error: unknown): string {
  const { code, cause } = error as { readonly code?: unknown; readonly cause?: { readonly code?: unknown } }
  const known = [cause?.code, code].find((one) => typeof one === 'string')
  return known === undefined ? 'it could not be asked' : `it could not be asked (${String(known)})`
}
