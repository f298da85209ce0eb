import { otlpJson } from '../../shared/telemetry/otlp-json.ts'
import type { Attributes, Span } from '../../shared/telemetry/span.ts'

/** What became of a request. `later`: the same may be taken another time. */
export type Posted =
  | { readonly kind: 'taken'; readonly rejected: number; readonly why?: string }
  | { readonly kind: 'later'; readonly why: string; readonly wait_ms?: number }
  | { readonly kind: 'refused'; readonly why: string }

export interface Collector {
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
export async function postSpans(collector: Collector, spans: readonly Span[], signal: AbortSignal): Promise<Posted> {
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
