import { Fault } from '../errors.ts'
import type { PayloadKind } from './decode-payload.ts'

/** The name of a payload on the wire. */
export interface PayloadType {
  readonly domain: string
  readonly category: string
  readonly version: string
}

export interface PayloadRegistry {
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
