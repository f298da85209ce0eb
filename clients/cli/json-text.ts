/**
 * JSON for stdout: one line, or indented by `indent`. Characters a terminal could obey or a reader not see (C1
 * controls, bidi marks) are written as \uXXXX: the same data, safe to look at.
 */
export function jsonText(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(UNSAFE, escaped)
}

/** Everything below U+0020 is escaped by JSON itself. */
const UNSAFE = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
