import * as z from 'zod'
import { type Behaviour, json, type ProviderServer, serveProvider } from './provider-server.ts'

/**
 * A collector that takes traces over HTTP as JSON and is stricter than real ones, which must ignore what they do not
 * know: names, hex ids, integers as strings and enums as numbers are as the specification of OTLP has them.
 */
const TEXT = z.strictObject({ stringValue: z.string() })
const ValueSchema = z.union([
  TEXT,
  z.strictObject({ boolValue: z.boolean() }),
  z.strictObject({ intValue: z.string().regex(/^-?\d{1,19}$/) }),
  z.strictObject({ doubleValue: z.union([z.number(), z.enum(['NaN', 'Infinity', '-Infinity'])]) }),
  z.strictObject({ arrayValue: z.strictObject({ values: z.array(TEXT) }) }),
])
const AttributesSchema = z
  .array(z.strictObject({ key: z.string().min(1), value: ValueSchema }))
  .refine((all) => new Set(all.map(({ key }) => key)).size === all.length, 'a key twice')
const traceId = z.string().regex(/^(?!0{32})[0-9a-f]{32}$/)
const spanId = z.string().regex(/^(?!0{16})[0-9a-f]{16}$/)
const time = z.string().regex(/^\d{19}$/)
const SpanSchema = z
  .strictObject({
    traceId,
    spanId,
    parentSpanId: spanId.optional(),
    name: z.string().min(1),
    kind: z.int().min(1).max(5),
    startTimeUnixNano: time,
    endTimeUnixNano: time,
    attributes: AttributesSchema,
    links: z
      .array(z.strictObject({ traceId, spanId, attributes: AttributesSchema }))
      .min(1)
      .optional(),
    status: z.strictObject({ code: z.int().min(0).max(2) }).optional(),
  })
  .refine(({ startTimeUnixNano: from, endTimeUnixNano: to }) => BigInt(from) <= BigInt(to), 'it ends before it begins')
const RequestSchema = z.strictObject({
  resourceSpans: z
    .array(
      z.strictObject({
        resource: z.strictObject({ attributes: AttributesSchema }),
        scopeSpans: z
          .array(z.strictObject({ scope: z.strictObject({ name: z.string() }), spans: z.array(SpanSchema).min(1) }))
          .min(1),
      }),
    )
    .min(1),
})

/** A span as it was taken, its attributes as plain values. */
export interface TakenSpan extends Omit<z.infer<typeof SpanSchema>, 'attributes'> {
  readonly attributes: Readonly<Record<string, unknown>>
  readonly resource: Readonly<Record<string, unknown>>
}

export interface Collector extends Omit<ProviderServer, 'asked'> {
  /** What was taken, in order. */
  readonly spans: readonly TakenSpan[]
  /** What was wrong with requests that were refused. */
  readonly refused: readonly string[]
  readonly requests: ProviderServer['asked']
}

/** Listens on a free port of 127.0.0.1. With a key, whoever does not send it as a bearer is 401. */
export async function startCollector(key?: string): Promise<Collector> {
  const spans: TakenSpan[] = []
  const refused: string[] = []
  const take: Behaviour = (response, asked) => {
    const isRight = asked.path === '/v1/traces' && asked.headers['content-type'] === 'application/json'
    const parsed = RequestSchema.safeParse(asked.body)
    if (isRight && parsed.success) {
      spans.push(...parsed.data.resourceSpans.flatMap(takenSpans))
      return json(200, {})(response, asked)
    }
    refused.push(parsed.success ? asked.path : z.prettifyError(parsed.error))
    return json(400, { message: 'bad data' })(response, asked)
  }
  const { asked, ...server } = await serveProvider(take, key)
  return { ...server, requests: asked, spans, refused }
}

function takenSpans({
  resource,
  scopeSpans,
}: z.infer<typeof RequestSchema>['resourceSpans'][number]): readonly TakenSpan[] {
  const own = plain(resource.attributes)
  return scopeSpans.flatMap(({ spans }) =>
    spans.map((span) => ({ ...span, attributes: plain(span.attributes), resource: own })),
  )
}

function plain(attributes: z.infer<typeof AttributesSchema>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, plainValue(value)]))
}

function plainValue(value: z.infer<typeof ValueSchema>): unknown {
  if ('arrayValue' in value) return value.arrayValue.values.map(({ stringValue }) => stringValue)
  if ('intValue' in value) return Number(value.intValue)
  return Object.values(value)[0]
}
