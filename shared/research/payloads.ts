import { type Decoded, type PayloadKind, readPayload } from './decode-payload.ts'
import { type Envelope, isEnvelope, openEnvelope } from './envelope.ts'
import { payloadError } from './payload-error.ts'
import { openPayloadRegistry, type PayloadRegistry } from './payload-registry.ts'
import { registerPayloads, researchType } from './register-payloads.ts'

/** The registry the stages and the CLI start from: who has it decodes every payload there is. */
const PAYLOADS: PayloadRegistry = openPayloadRegistry()
registerPayloads(PAYLOADS)

/** Reads a payload of the chain by its category, as it is or in the envelope it travels in. */
export function readCategory(category: Parameters<typeof researchType>[0], input: unknown): Decoded<unknown> {
  if (!isEnvelope(input)) return readPayload(kindOf(category), input)
  const opened = readEnvelope(input)
  if (!opened.ok || opened.value.type.category === category) return opened
  const message = `is an envelope of ${opened.value.type.category}, wanted is one of ${category}`
  return { ok: false, errors: [payloadError('field_value', 'type.category', message)] }
}

/** Reads an envelope with the payload in it. */
export function readEnvelope(input: unknown): Decoded<Envelope> {
  return openEnvelope(PAYLOADS, input)
}

function kindOf(category: Parameters<typeof researchType>[0]): PayloadKind<unknown> {
  const kind = PAYLOADS.find(researchType(category))
  if (kind === undefined) throw new TypeError(`no payload of category "${category}" is registered`)
  return kind
}
