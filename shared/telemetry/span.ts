/** A value of an attribute; undefined ones are left out. */
export type AttributeValue = string | number | boolean | readonly string[]
export type Attributes = Readonly<Record<string, AttributeValue | undefined>>

/** Another span, of this trace or of another. Ids as hex digits: 32 of a trace, 16 of a span. */
export interface SpanLink {
  readonly trace_id: string
  readonly span_id: string
  readonly attributes?: Attributes
}

/** One finished span, before it is OTLP (otlp-json.ts). Times in ms since 1970. */
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
