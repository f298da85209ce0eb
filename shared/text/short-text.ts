import { redactSecrets } from './redact.ts'

/** Characters of a reason; an event has 1 KiB in all. */
const MOST = 600
/** Bytes of its JSON for each of them: of a script with longer characters, and of what is escaped, fewer are kept. */
const BYTES_EACH = 4 / 3

/** The rest of a huge text is never walked. */
const LOOKED_AT = 4_000

/**
 * Words from outside (a provider, a handler, a list of problems) as an event may carry them: without what looks like a
 * secret, cut, and without half a character, which no canonical JSON can hold.
 */
export function shortRedacted(text: string, most = MOST): string {
  const short = redactSecrets(text.slice(0, LOOKED_AT)).slice(0, most).toWellFormed()
  return withinBytes(short, Math.floor(most * BYTES_EACH))
}

function withinBytes(text: string, most: number): string {
  let left = most
  let end = 0
  for (const character of text) {
    // Without the quotes around it.
    left -= new TextEncoder().encode(JSON.stringify(character)).length - 2
    if (left < 0) return text.slice(0, end)
    end += character.length
  }
  return text
}
