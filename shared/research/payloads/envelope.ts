import * as z from 'zod'
import { Fault } from '../../errors.ts'
import { type Decoded, decodePayload, type PayloadKind, payloadError, readPayload } from './codec.ts'
import { intentKind } from './intent.ts'
import { searchResultKind } from './result.ts'
import { routeDecisionKind } from './route-decision.ts'
import { assessmentOutputKind, classifierOutputKind, executionOutputKind } from './stage-outputs.ts'

/** The name of a payload on the wire. */
interface PayloadType {
  readonly domain: string
  readonly category: string
  readonly version: string
}

interface PayloadRegistry {
  /** Fault Bug payload_registered_twice. */
  add<T>(type: PayloadType, kind: PayloadKind<T>): void
  find(type: PayloadType): PayloadKind<unknown> | undefined
  types(): readonly PayloadType[]
}

/** An empty one; registerPayloads() fills it, and nothing else does. */
export function openPayloadRegistry(): PayloadRegistry {
  const kinds = new Map<string, { readonly type: PayloadType; readonly kind: PayloadKind<unknown> }>()
  return {
    add(type, kind) {
      const key = keyOf(type)
      if (kinds.has(key)) {
        throw new Fault('Bug', 'payload_registered_twice', `Cannot register payload ${key}: it is there already.`)
      }
      // The registry gives a kind only what that kind's own schema read.
      kinds.set(key, { type, kind: kind as PayloadKind<unknown> })
    },
    find: (type) => kinds.get(keyOf(type))?.kind,
    types: () => [...kinds.values()].map(({ type }) => type),
  }
}

function keyOf({ domain, category, version }: PayloadType): string {
  return `${domain}.${category}.${version}`
}

const DOMAIN = 'research'
const VERSION = 'v1'

type Category = 'intent' | 'classifier_output' | 'route_decision' | 'result' | 'execution_output' | 'assessment_output'

/** The type of a payload of the chain, as its envelope has it. */
export function researchType(category: Category): PayloadType {
  return { domain: DOMAIN, category, version: VERSION }
}

/** The only place that adds types: who starts from it decodes all of them. */
export function registerPayloads(registry: PayloadRegistry): void {
  registry.add(researchType('intent'), intentKind)
  registry.add(researchType('classifier_output'), classifierOutputKind)
  registry.add(researchType('route_decision'), routeDecisionKind)
  registry.add(researchType('result'), searchResultKind)
  registry.add(researchType('execution_output'), executionOutputKind)
  registry.add(researchType('assessment_output'), assessmentOutputKind)
}

/** The registry the stages and the CLI start from: who has it decodes every payload there is. */
const REGISTRY: PayloadRegistry = openPayloadRegistry()
registerPayloads(REGISTRY)

/** Reads a payload of the chain by its category, as it is or in the envelope it travels in. */
export function readPayloadOfCategory(category: Parameters<typeof researchType>[0], input: unknown): Decoded<unknown> {
  if (!isEnvelope(input)) return readPayload(kindOf(category), input)
  const opened = readEnvelope(input)
  if (!opened.ok || opened.value.type.category === category) return opened
  const message = `is an envelope of ${opened.value.type.category}, wanted is one of ${category}`
  return { ok: false, errors: [payloadError('field_value', 'type.category', message)] }
}

/** Reads an envelope with the payload in it. */
export function readEnvelope(input: unknown): Decoded<Envelope> {
  return openEnvelope(REGISTRY, input)
}

function kindOf(category: Parameters<typeof researchType>[0]): PayloadKind<unknown> {
  const kind = REGISTRY.find(researchType(category))
  if (kind === undefined) throw new TypeError(`no payload of category "${category}" is registered`)
  return kind
}

const EnvelopeSchema = z.object({
  id: z.string(),
  type: z.object({ domain: z.string(), category: z.string(), version: z.string() }),
  payload: z.unknown(),
  /** What travels beside the payload: `parent_loop`. */
  meta: z.record(z.string(), z.unknown()).optional(),
})

/** A payload on its way: what it is called, and what it is. */
type Envelope = z.infer<typeof EnvelopeSchema>

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

function unknownType(registry: PayloadRegistry, type: PayloadType) {
  const seen = JSON.stringify(`${type.domain}.${type.category}.${type.version}`.slice(0, 200))
  const known = registry.types().map(({ domain, category, version }) => `${domain}.${category}.${version}`)
  return {
    code: 'unknown_payload_type',
    path: 'type',
    message: `There is no payload type ${seen}; known are ${known.join(', ')}.`,
  }
}
