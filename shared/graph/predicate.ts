/** The longest predicate: as many bytes as an entity id may have, for both are parts of index keys. */
const MAX_CHARACTERS = 256

/**
 * Dotted lower-case segments, two or more: `research.topic`, `geo.country.capital`. A segment is a letter and then
 * letters, digits, `_` or `-`.
 */
export function isPredicate(text: string): boolean {
  return text.length <= MAX_CHARACTERS && PREDICATE.test(text)
}

const PREDICATE = /^[a-z][a-z0-9_-]*(?:\.[a-z][a-z0-9_-]*)+$/
