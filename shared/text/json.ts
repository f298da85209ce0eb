import canonicalize from 'canonicalize'

/** A JSON value: what travels between blocks and what is hashed. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/**
 * RFC 8785 text of a JSON value: keys sorted, one spelling per number. `undefined` members are left out. JSON.stringify writes
 * numbers and texts as the RFC has them, so plain data is only put in order for it; whatever else there is (lone surrogates,
 * NaN, toJSON, keys that are numbers, cycles) the library writes or refuses.
 */
export function canonicalJson(value: unknown): string {
  const ordered = inOrder(value, 0)
  const plain = ordered === ODD ? undefined : JSON.stringify(ordered)
  const text = plain === undefined || plain.includes(LONE_SURROGATE) ? canonicalize(value) : plain
  if (text === undefined) throw new TypeError('canonicalJson() needs a JSON value, got undefined')
  return text
}

/** As JSON.stringify spells it; a text that has these characters itself is written by the library, in the same way. */
const LONE_SURROGATE = '\\ud'
const ODD = Symbol('no plain data')
/** A cycle has no end, and a stack has one. */
const MOST_LEVELS = 100

type Members = Readonly<Record<string, unknown>>

/** The same value with the members of all objects in the order of their names; itself where they are already. */
function inOrder(value: unknown, level: number): unknown {
  if (typeof value !== 'object' || value === null) {
    return typeof value === 'number' && !Number.isFinite(value) ? ODD : value
  }
  if (level === MOST_LEVELS || 'toJSON' in value) return ODD
  if (Array.isArray(value)) return itemsInOrder(value, level)
  const prototype = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null ? membersInOrder(value as Members, level) : ODD
}

function itemsInOrder(list: readonly unknown[], level: number): unknown {
  let copy: unknown[] | undefined
  for (let i = 0; i < list.length; i += 1) {
    const item = inOrder(list[i], level + 1)
    if (item === ODD) return ODD
    if (item === list[i]) continue
    copy ??= [...list]
    copy[i] = item
  }
  return copy ?? list
}

function membersInOrder(members: Members, level: number): unknown {
  const names = Object.keys(members)
  if (names.some(isOddName)) return ODD
  let ordered: Record<string, unknown> | undefined = putInOrder(names) ? undefined : {}
  for (const name of names) {
    const given = members[name]
    const member = inOrder(given, level + 1)
    if (member === ODD) return ODD
    if (ordered === undefined && member !== given) ordered = { ...members }
    if (ordered !== undefined) ordered[name] = member
  }
  return ordered ?? members
}

/** Answers whether they were already. Few names are put in order one by one, which is several times faster there. */
function putInOrder(names: string[]): boolean {
  if (names.length > FEW_NAMES) {
    const isSame = names.every((name, i) => i === 0 || (names[i - 1] ?? '') < name)
    names.sort()
    return isSame
  }
  let isSame = true
  for (let i = 1; i < names.length; i += 1) {
    const name = names[i] ?? ''
    let at = i
    for (; at > 0 && name < (names[at - 1] ?? ''); at -= 1) names[at] = names[at - 1] ?? ''
    names[at] = name
    if (at < i) isSame = false
  }
  return isSame
}

const FEW_NAMES = 24

/** Numbers come first in every object, whatever order they are set in. */
function isOddName(name: string): boolean {
  const first = name.charCodeAt(0)
  return (first >= 48 && first <= 57) || name === '__proto__'
}
