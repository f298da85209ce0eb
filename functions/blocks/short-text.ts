/** Characters of a reason; an event has 1 KiB in all, and 600 of any script fit an append. */
const MOST = 600

/**
 * Words from outside (a provider, a handler, a list of problems) as an event may carry them: cut, and without half a
 * character, which no canonical JSON can hold.
 */
export function shortText(text: string, most = MOST): string {
  return text.slice(0, most).toWellFormed()
}
