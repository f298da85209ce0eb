import {
  hashOfObjectRef,
  hashOfOwnObjectRef,
  type ObjectStore,
  objectFault,
  objectKey,
} from '../../shared/ports/objects.ts'
import { sha256 } from '../../shared/text/hash.ts'

/** Bodies by key, and when each was put last. */
export interface MemoryObjects extends ObjectStore {
  putAt(tenant: string, ref: string): number | undefined
  readonly keys: () => readonly string[]
  /** The bytes under a key of those. */
  body(key: string): Uint8Array
}

export function createMemoryObjects(now: () => number): MemoryObjects {
  const bodies = new Map<string, { readonly body: Uint8Array; readonly at: number }>()
  const keyOf = (tenant: string, ref: string) => objectKey(tenant, hashOfObjectRef(tenant, ref))
  return {
    async put(tenant, body) {
      const hash = sha256(body)
      bodies.set(objectKey(tenant, hash), { body: Uint8Array.from(body), at: now() })
      return { ref: `objstore://${tenant}/${hash}`, sha256: hash, bytes: body.byteLength }
    },
    async get(tenant, ref) {
      const found = bodies.get(keyOf(tenant, ref))
      if (found === undefined) throw objectFault('missing', ref)
      return found.body
    },
    async has(tenant, ref) {
      const hash = hashOfOwnObjectRef(tenant, ref)
      return hash !== undefined && bodies.has(objectKey(tenant, hash))
    },
    async erase(tenant, ref, before) {
      const key = keyOf(tenant, ref)
      if ((bodies.get(key)?.at ?? 0) >= before) return false
      bodies.delete(key)
      return true
    },
    putAt: (tenant, ref) => bodies.get(keyOf(tenant, ref))?.at,
    keys: () => [...bodies.keys()],
    body: (key) => bodies.get(key)?.body ?? new Uint8Array(),
  }
}
