import type { Json } from '../canonical.ts'
import { LIMITS } from './limits.ts'
import { isReserved } from './name.ts'
import type { Problem } from './report.ts'
import type { Path, Spot } from './source.ts'
import { quoted } from './wording.ts'
import type { ReadDocument } from './yaml.ts'

/**
 * Reads a document given as a value: a copy of plain JSON, under the limits of the text form. Places are running
 * numbers in document order, so that errors are listed in that order. Getters and proxies that throw are refused.
 */
export function readObject(given: object): ReadDocument {
  const copy: Copy = { problems: [], bytes: 0, places: 0 }
  try {
    const [value, spot] = copyValue(copy, given, [])
    const bytes = Math.max(copy.bytes, Buffer.byteLength(JSON.stringify(value)))
    if (bytes > LIMITS.document_bytes) return tooLarge(bytes)
    const source = { value, spot }
    return copy.problems.length > 0 ? { ok: false, source, problems: copy.problems } : { ok: true, source }
  } catch (cause) {
    if (cause instanceof TooLarge) return tooLarge(cause.bytes)
    const say = () => ({ text: 'the document is an object that cannot be read', hint: 'Give plain JSON or YAML text.' })
    return { ok: false, source: {}, problems: [{ code: 'not_json', path: [], say }] }
  }
}

interface Copy {
  readonly problems: Problem[]
  /** At least this many bytes as JSON: stops what shares or repeats parts without end. */
  bytes: number
  places: number
}

class TooLarge extends Error {
  override readonly name = 'TooLarge'
  readonly bytes: number
  constructor(bytes: number) {
    super('document too large')
    this.bytes = bytes
  }
}

function tooLarge(bytes: number): ReadDocument {
  const text = `the document has at least ${bytes} bytes as JSON; the limit is ${LIMITS.document_bytes}`
  return { ok: false, source: {}, problems: [{ code: 'limit_exceeded', path: [], say: () => ({ text }) }] }
}

function copyValue(copy: Copy, value: unknown, path: Path): [Json, Spot] {
  const at = copy.places++
  charge(copy, typeof value === 'string' ? value.length : 1)
  if (path.length > LIMITS.depth) {
    const text = `the document nests deeper than ${LIMITS.depth} levels`
    copy.problems.push({ code: 'limit_exceeded', path, at, say: () => ({ text }) })
    return [null, { at }]
  }
  if (Array.isArray(value)) return copyList(copy, value, path, at)
  if (isPlain(value)) return copyMapping(copy, value, path, at)
  if (isScalar(value)) return [value, { at }]
  const what = typeof value === 'object' ? 'an object that is not plain' : `a ${typeof value}`
  const say: Problem['say'] = ({ place }) => ({ text: `${place} is ${what}, which is no JSON value` })
  copy.problems.push({ code: 'not_json', path, at, say })
  return [null, { at }]
}

function copyList(copy: Copy, list: readonly unknown[], path: Path, at: number): [Json, Spot] {
  const values: Json[] = []
  const items: Spot[] = []
  for (let index = 0; index < list.length; index += 1) {
    const [value, spot] = copyValue(copy, list[index], [...path, index])
    values.push(value)
    items.push(spot)
  }
  return [values, { at, items }]
}

function copyMapping(copy: Copy, mapping: object, path: Path, at: number): [Json, Spot] {
  const values: Record<string, Json> = {}
  const keys = new Map<string, { at: number; value: Spot }>()
  for (const [key, member] of Object.entries(mapping)) {
    if (member === undefined) continue
    const here = copy.places++
    charge(copy, key.length)
    if (isReserved(key) || !key.isWellFormed()) {
      const text = `the key ${quoted(key)} is not allowed`
      const say = () => ({ text, hint: 'Rename it.' })
      copy.problems.push({ code: 'forbidden_key', path: [...path, key], at: here, say })
      continue
    }
    const [value, spot] = copyValue(copy, member, [...path, key])
    values[key] = value
    keys.set(key, { at: here, value: spot })
  }
  return [values, { at, keys }]
}

function charge(copy: Copy, bytes: number): void {
  copy.bytes += bytes
  if (copy.bytes > LIMITS.document_bytes) throw new TooLarge(copy.bytes)
}

function isScalar(value: unknown): value is Json {
  if (typeof value === 'string') return value.isWellFormed()
  return value === null || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))
}

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}
