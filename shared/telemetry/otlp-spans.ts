import { redactSecrets } from '../text/redact.ts'

/** A value of an attribute; undefined ones are left out. */
type AttributeValue = string | number | boolean | readonly string[]
export type Attributes = Readonly<Record<string, AttributeValue | undefined>>

/** Another span, of this trace or of another. Ids as hex digits: 32 of a trace, 16 of a span. */
export interface SpanLink {
  readonly trace_id: string
  readonly span_id: string
  readonly attributes?: Attributes
}

/** One finished span, before it is OTLP. Times in ms since 1970. */
export interface Span extends SpanLink {
  readonly parent_span_id?: string
  readonly name: string
  /** `client`: somebody else was asked. */
  readonly kind: 'internal' | 'client'
  readonly began: number
  readonly ended: number
  readonly attributes: Attributes
  readonly failed: boolean
  readonly links: readonly SpanLink[]
}

/**
 * An ExportTraceServiceRequest in OTLP's JSON form: proto3's mapping (64-bit integers are strings, names in lower camel
 * case), but ids in hex and enums as numbers. What looks like a secret is replaced, wherever it stands. Source: OTLP
 * specification, "JSON Protobuf Encoding"; opentelemetry/proto/trace/v1/trace.proto.
 */
export function otlpJson(resource: Attributes, spans: readonly Span[]): string {
  const scopeSpans = [{ scope: { name: 'sluice' }, spans: spans.map(spanJson) }]
  return JSON.stringify({ resourceSpans: [{ resource: { attributes: attributesJson(resource) }, scopeSpans }] })
}

const KIND = { internal: 1, client: 3 } as const
const STATUS_ERROR = 2

function spanJson(span: Span) {
  const { trace_id, span_id, parent_span_id, name, kind, began, ended, attributes, failed, links } = span
  return {
    traceId: trace_id,
    spanId: span_id,
    ...(parent_span_id === undefined ? {} : { parentSpanId: parent_span_id }),
    name: textJson(name),
    kind: KIND[kind],
    startTimeUnixNano: nanoseconds(began),
    endTimeUnixNano: nanoseconds(Math.max(began, ended)),
    attributes: attributesJson(attributes),
    ...(links.length === 0 ? {} : { links: links.map(linkJson) }),
    // Unset otherwise: OK is for people to say.
    ...(failed ? { status: { code: STATUS_ERROR } } : {}),
  }
}

function linkJson({ trace_id, span_id, attributes = {} }: SpanLink) {
  return { traceId: trace_id, spanId: span_id, attributes: attributesJson(attributes) }
}

function nanoseconds(ms: number): string {
  return `${Math.max(0, Math.round(ms))}000000`
}

function attributesJson(attributes: Attributes) {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: valueJson(value) }],
  )
}

function valueJson(value: AttributeValue): object {
  switch (typeof value) {
    case 'string':
      return { stringValue: textJson(value) }
    case 'boolean':
      return { boolValue: value }
    case 'number':
      return numberJson(value)
    default:
      return { arrayValue: { values: value.map((text) => ({ stringValue: textJson(text) })) } }
  }
}

/** What is no number in JSON has a name in the mapping. */
function numberJson(value: number): object {
  if (Number.isSafeInteger(value)) return { intValue: String(value) }
  return { doubleValue: Number.isFinite(value) ? value : String(value) }
}

function textJson(text: string): string {
  return redactSecrets(text).toWellFormed()
}
