/** How values of a document are shown in messages: short, quoted, without control or direction characters. */
export function quoted(text: string): string {
  const short = text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text
  return JSON.stringify(short).replace(UNSAFE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** A value as its reader would call it. */
export function shown(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'nothing (null)'
  if (typeof value === 'string') return quoted(value)
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list'
  return typeof value === 'object' ? 'a mapping' : String(value)
}

/** `"a", "b" and 12 more`, or `none`. */
export function listed(names: Iterable<string>): string {
  const all = [...names]
  if (all.length === 0) return 'none'
  const first = all.slice(0, LISTED).map(quoted).join(', ')
  return all.length > LISTED ? `${first} and ${all.length - LISTED} more` : first
}

const SHOWN = 80
const LISTED = 12
const UNSAFE = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g
