/** An object as events and answers name it. */
export interface NamedObject {
  readonly ref: string
  readonly sha256: string
  readonly bytes?: number
}

/** The object a value names: `{ref, sha256, bytes}` and nothing else, or the ref alone. Undefined = it names none. */
export function namedObject(value: unknown): NamedObject | undefined {
  if (typeof value === 'string') {
    const [, sha256] = REF.exec(value) ?? []
    return sha256 === undefined ? undefined : { ref: value, sha256 }
  }
  if (!isTree(value) || !('ref' in value) || typeof value.ref !== 'string') return undefined
  const named = namedObject(value.ref)
  if (named === undefined || Object.keys(value).some((key) => !MEMBERS.includes(key))) return undefined
  return 'bytes' in value && typeof value.bytes === 'number' ? { ...named, bytes: value.bytes } : named
}

const REF = /^objstore:\/\/[A-Za-z0-9][A-Za-z0-9._-]{0,63}\/([0-9a-f]{64})$/
const MEMBERS = ['ref', 'sha256', 'bytes']

/** Whether it has members of its own to fold out. */
export function isTree(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
