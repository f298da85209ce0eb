import * as z from 'zod'
import { type Decoded, decodePayload, readPayload } from './decode-payload.ts'
import { encodePayload } from './encode-payload.ts'
import type { PayloadRegistry, PayloadType } from './payload-registry.ts'

const EnvelopeSchema = z.object({
  id: z.string(),
  type: z.object({ domain: z.string(), category: z.string(), version: z.string() }),
  payload: z.unknown(),
  /** What travels beside the payload: `parent_loop`. */
  meta: z.record(z.string(), z.unknown()).optional(),
})

/** A payload on its way: what it is called, and what it is. */
export type Envelope = z.infer<typeof EnvelopeSchema>

/** Reads an envelope and its payload; a type the registry does not have is refused, never passed on unread. */
export function openEnvelope(registry: PayloadRegistry, input: unknown): Decoded<Envelope> {
  const envelope = decodePayload(EnvelopeSchema, input)
  if (!envelope.ok) return envelope
  const { type, payload } = envelope.value
  const kind = registry.find(type)
  if (kind === undefined) return { ok: false, errors: [unknownType(registry, type)] }
  const read = readPayload(kind, payload)
  if (read.ok) return { ok: true, value: { ...envelope.value, payload: read.value } }
  const errors = read.errors.map((error) => ({
    ...error,
    path: error.path === '' ? 'payload' : `payload.${error.path}`,
  }))
  return { ok: false, errors }
}

/** Whether a value is meant as an envelope: a payload beside a type that is an object. No payload has these two members. */
export function isEnvelope(input: unknown): input is { readonly type: object; readonly payload: unknown } {
  if (typeof input !== 'object' || input === null || !Object.hasOwn(input, 'payload')) return false
  return 'type' in input && typeof input.type === 'object' && input.type !== null
}

/** The envelope as JSON, with the payload as its kind encodes it. */
export function sealEnvelope(registry: PayloadRegistry, envelope: Envelope): Decoded<unknown> {
  const kind = registry.find(envelope.type)
  if (kind === undefined) return { ok: false, errors: [unknownType(registry, envelope.type)] }
  return { ok: true, value: { ...envelope, payload: encodePayload(kind.schema, envelope.payload) } }
}

function unknownType(registry: PayloadRegistry, type: PayloadType) {
  const seen = JSON.stringify(`${type.domain}.${type.category}.${type.version}`.slice(0, 200))
  const known = registry.types().map(({ domain, category, version }) => `${domain}.${category}.${version}`)
  return {
    code: 'unknown_payload_type',
    path: 'type',
    message: `There is no payload type ${seen}; known are ${known.join(', ')}.`,
  }
}
