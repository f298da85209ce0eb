import { redactSecrets } from '../redact-secrets.ts'

/** Characters that reorder text on a screen, and zero-width marks that hide in it. */
const UNSEEN = /[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/gu
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]+/gu

/**
 * Text somebody else may have written, made safe to show on one line: control and bidi characters are gone and what
 * looks like a secret, it is well-formed, and at most `limit` code points long (cut with `…`).
 */
export function oneSentence(text: string, limit = 300): string {
  // The rest of a huge text is never walked.
  const start = text.length > limit * 4 ? text.slice(0, limit * 4) : text
  const clean = start.toWellFormed().replace(CONTROL, ' ').replace(UNSEEN, '').trim()
  const points = [...redactSecrets(clean)]
  if (points.length <= limit && start === text) return points.join('')
  return `${points.slice(0, limit - 1).join('')}…`
}

/** `"a", "b"`: quoted for people, each at most 80 characters. */
export function quoted(values: readonly string[]): string {
  return values.map((value) => `"${oneSentence(value, 80)}"`).join(', ')
}
