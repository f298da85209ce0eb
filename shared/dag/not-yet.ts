import type { Json } from '../canonical.ts'

/**
 * What the language has and this version cannot run yet: refused by name instead of ignored, here and nowhere else.
 * A key is listed by its section; `only` narrows it to some of its values, the others are read as usual.
 */
const LATER: Readonly<Record<string, Readonly<Record<string, readonly Json[] | 'any'>>>> = {
  document: { goal_contract: 'any', completion: 'any' },
}

/** Whether `key` of a section, with this value, comes later. */
export function isLater(section: string, key: string, value: Json): boolean {
  const values = own(own(LATER, section) ?? {}, key)
  return values === 'any' || values?.includes(value) === true
}

/** What is refused: the key where every value of it comes later, `key: value` where this one does. */
export function laterWords(section: string, key: string, value: Json | undefined): string {
  const some = own(own(LATER, section) ?? {}, key) !== 'any' && (typeof value === 'string' || typeof value === 'number')
  return some ? `"${key}: ${value}"` : `"${key}"`
}

/** Keys of a section that come later, for suggestions. */
export function laterKeys(section: string): readonly string[] {
  return Object.keys(own(LATER, section) ?? {})
}

function own<T>(record: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined
}
