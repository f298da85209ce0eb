/** A name without case, accents, apostrophes and points, its words joined by `-`; `Saint` is `st`. */
export function plainName(name: string): string {
  const letters = name.normalize('NFKD').replace(/[\p{M}'’‘ʻ`.]/gu, '')
  return letters
    .toLowerCase()
    .replace(/\bsaint\b/g, 'st')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
}
