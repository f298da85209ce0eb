import { redactSecrets } from './redact.ts'

/** Characters of a reason; an event has 1 KiB in all, and 600 of any script fit an append. */
const MOST = 600

/** The rest of a huge text is never walked. */
const LOOKED_AT = 4_000

/**
 * Words from outside (a provider, a handler, a list of problems) as an event may carry them: without what looks like a
 * secret, cut, and without half a character, which no canonical JSON can hold.
 */
export function shortRedacted(text: string, most = MOST): string {
  return redactSecrets(text.slice(0, LOOKED_AT)).slice(0, most).toWellFormed()
}
