import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { compareBytes, compareText } from './order.ts'
import { invalid, refusals } from './refusals.ts'

/** What one type of attribute value means. `order` where values have one, `count` where size() is defined. */
interface Kind<T> {
  /** Checked, copied and frozen, as the table keeps it. */
  keep(raw: T, depth: number): T
  /** As DynamoDB counts an item's size. */
  bytes(value: T): number
  same(a: T, b: T): boolean
  order?(a: T, b: T): number
  count?(value: T): number
}

type Raw = string | boolean | Uint8Array | readonly unknown[] | Readonly<Record<string, unknown>>

export interface Typed {
  readonly type: string
  readonly raw: never
}

/** The one datatype of a value, and what is in it. */
export function typed(value: AttributeValue): Typed {
  let found: Typed | undefined
  for (const type in value) {
    const raw = value[type as keyof AttributeValue]
    if (raw === undefined) continue
    if (found !== undefined) throw invalid(MANY_TYPES)
    // Whoever reads it does so through the kind of that type.
    found = { type, raw: raw as never }
  }
  if (found === undefined) throw invalid(NO_TYPE)
  return found
}

const NO_TYPE = 'Supplied AttributeValue is empty, must contain exactly one of the supported datatypes'
const MANY_TYPES =
  'Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes'

export function kindOf(type: string): Kind<Raw> {
  const kind = KINDS.get(type)
  if (kind === undefined) throw refusals.unsupported(`values of type ${type}`)
  return kind
}

/** Deepest nesting of lists and maps. */
const MAX_DEPTH = 32

/** A value as the table keeps it: checked, nothing shared with whoever sent it, frozen. */
function kept(value: AttributeValue, depth = 0): AttributeValue {
  if (depth > MAX_DEPTH) throw invalid('Nesting Levels have exceeded supported limits')
  const { type, raw } = typed(value)
  // The kind keeps the type it was given.
  return Object.freeze({ [type]: kindOf(type).keep(raw, depth) }) as unknown as AttributeValue
}

/** The attributes of an item, or of a map, as the table keeps them. */
export function keptMap(
  raw: Readonly<Record<string, AttributeValue>>,
  depth = 0,
): Readonly<Record<string, AttributeValue>> {
  const copy: Record<string, AttributeValue> = {}
  for (const name of Object.keys(raw)) {
    const value = raw[name]
    if (value !== undefined) copy[name] = kept(value, depth)
  }
  return Object.freeze(copy)
}

export function sameValue(a: AttributeValue | undefined, b: AttributeValue | undefined): boolean {
  if (a === undefined || b === undefined) return false
  const [mine, theirs] = [typed(a), typed(b)]
  return mine.type === theirs.type && kindOf(mine.type).same(mine.raw, theirs.raw)
}

/** Bytes of names and values together. */
export function bytesOfMap(map: Readonly<Record<string, AttributeValue>>): number {
  let sum = 0
  for (const name in map) {
    const value = map[name]
    if (value !== undefined) sum += bytesOfText(name) + bytesOf(value)
  }
  return sum
}

/** Of a short text it is quicker to see for oneself that each of its characters is one byte. */
function bytesOfText(raw: string): number {
  if (raw.length > SHORT) return Buffer.byteLength(raw)
  for (let i = 0; i < raw.length; i += 1) if (raw.charCodeAt(i) > 0x7f) return Buffer.byteLength(raw)
  return raw.length
}

const SHORT = 40

function bytesOf(value: AttributeValue): number {
  const known = SIZES.get(value)
  if (known !== undefined) return known
  const { type, raw } = typed(value)
  const bytes = kindOf(type).bytes(raw)
  if (type === 'M' || type === 'L') SIZES.set(value, bytes)
  return bytes
}

/** Of lists and maps: those are frozen, and most of an item stays the same from one write to the next. */
const SIZES = new WeakMap<AttributeValue, number>()

const text: Kind<string> = {
  keep: (raw) => raw,
  bytes: bytesOfText,
  same: (a, b) => a === b,
  order: compareText,
  count: (raw) => (/^[ -~]*$/.test(raw) ? raw.length : unsure(raw)),
}

/** "The length of the string" is all that is said: bytes or characters. */
function unsure(raw: string): never {
  throw refusals.unsupported(`the size() of "${raw}"`)
}

const number: Kind<string> = {
  keep: numberText,
  // About a byte for two digits, and one more.
  bytes: (raw) => Math.ceil(raw.replace(/^-|\.|^0+|0+$/g, '').length / 2) + 1,
  same: (a, b) => Number(a) === Number(b),
  order: (a, b) => Number(a) - Number(b),
}

/** Numbers as JavaScript has them exactly; what DynamoDB can do beyond is not known here. */
export function numberText(raw: string): string {
  if (!/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(raw)) {
    throw invalid(`The parameter cannot be converted to a numeric value: ${raw}`)
  }
  const digits = raw.replace(/[eE].*$/, '').replace(/^[+-]?0*|\./g, '')
  const value = Number(raw)
  if (digits.length > 15 || (value !== 0 && (Math.abs(value) >= 1e21 || Math.abs(value) < 1e-6))) {
    throw refusals.unsupported(`the number ${raw}: more than 15 digits, or too large or small`)
  }
  return String(value === 0 ? 0 : value)
}

const binary: Kind<Uint8Array> = {
  keep: (raw) => Uint8Array.from(raw),
  bytes: (raw) => raw.length,
  same: (a, b) => compareBytes(a, b) === 0,
  order: compareBytes,
  count: (raw) => raw.length,
}

const flag: Kind<boolean> = { keep: (raw) => raw, bytes: () => 1, same: (a, b) => a === b }

const list: Kind<readonly AttributeValue[]> = {
  keep: (raw, depth) => Object.freeze(raw.map((value) => kept(value, depth + 1))),
  bytes: (raw) => raw.reduce((sum, value) => sum + 1 + bytesOf(value), 3),
  same: (a, b) => a.length === b.length && a.every((value, i) => sameValue(value, b[i])),
  count: (raw) => raw.length,
}

const map: Kind<Readonly<Record<string, AttributeValue>>> = {
  keep: (raw, depth) => keptMap(raw, depth + 1),
  bytes: (raw) => 3 + Object.keys(raw).length + bytesOfMap(raw),
  same: (a, b) => {
    const names = Object.keys(a)
    return names.length === Object.keys(b).length && names.every((name) => sameValue(a[name], b[name]))
  },
  count: (raw) => Object.keys(raw).length,
}

/** A set holds at least one member, each once, in any order. */
function setOf<T extends string | Uint8Array>(name: string, member: Kind<T>): Kind<readonly T[]> {
  const has = (set: readonly T[], one: T) => set.some((other) => member.same(one, other))
  return {
    keep(raw, depth) {
      if (raw.length === 0) throw invalid(`One or more parameter values were invalid: An ${name} set  may not be empty`)
      const members = raw.map((one) => member.keep(one, depth))
      const repeated = members.some((one, i) => has(members.slice(0, i), one))
      if (repeated) throw invalid('One or more parameter values were invalid: Input collection contains duplicates.')
      return Object.freeze(members)
    },
    bytes: (raw) => raw.reduce((sum, one) => sum + member.bytes(one), 0),
    same: (a, b) => a.length === b.length && a.every((one) => has(b, one)),
    count: (raw) => raw.length,
  }
}

// A kind is only ever handed what its own type name held.
const KINDS = new Map(
  Object.entries({
    S: text,
    N: number,
    B: binary,
    BOOL: flag,
    NULL: flag,
    L: list,
    M: map,
    SS: setOf('string', text),
    NS: setOf('number', number),
    BS: setOf('binary', binary),
  }),
) as unknown as ReadonlyMap<string, Kind<Raw>>
