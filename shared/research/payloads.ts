import { type Decoded, type PayloadKind, readPayload } from './decode-payload.ts'
import { openPayloadRegistry, type PayloadRegistry } from './payload-registry.ts'
import { registerPayloads, researchType } from './register-payloads.ts'

/** The registry the stages and the CLI start from: who has it decodes every payload there is. */
const PAYLOADS: PayloadRegistry = openPayloadRegistry()
registerPayloads(PAYLOADS)

/** Reads a payload of the chain by its category. */
export function readCategory(category: Parameters<typeof researchType>[0], input: unknown): Decoded<unknown> {
  return readPayload(kindOf(category), input)
}

function kindOf(category: Parameters<typeof researchType>[0]): PayloadKind<unknown> {
  const kind = PAYLOADS.find(researchType(category))
  if (kind === undefined) throw new TypeError(`no payload of category "${category}" is registered`)
  return kind
}
