/**
 * The wanted texts split by whether they occur in `text`. Without `caseSensitive` both sides are compared in upper
 * case, which (unlike lower case) does not depend on a letter's neighbours.
 */
export function occurrences(
  text: string,
  wanted: readonly string[],
  caseSensitive: boolean,
): { readonly found: readonly string[]; readonly missing: readonly string[] } {
  const fold = (part: string): string => (caseSensitive ? part : part.toUpperCase())
  const folded = fold(text)
  const found: string[] = []
  const missing: string[] = []
  for (const part of wanted) (folded.includes(fold(part)) ? found : missing).push(part)
  return { found, missing }
}
