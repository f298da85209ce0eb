/** Characters of a text as people count them (code points), without building a list of a long text's characters. */
export function codePoints(text: string): number {
  let count = 0
  for (const _ of text) count += 1
  return count
}
