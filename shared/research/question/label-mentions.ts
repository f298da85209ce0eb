import { plainWords } from './terms.ts'

/** Whether a text names a thing: all words of its label stand in it, one after the other. */
export function isNamedIn(text: string, label: string | undefined): boolean {
  const words = plainWords(label ?? '')
  // A single letter or digit is in every text.
  if (words.join('').length < 2) return false
  return ` ${plainWords(text).join(' ')} `.includes(` ${words.join(' ')} `)
}

/**
 * Those of the labels a text names, longer ones first: `Equatorial Guinea` does not name Guinea too. `rest` is the text
 * without them, in small letters.
 */
export function namesIn(
  text: string,
  labels: readonly string[],
): { readonly names: readonly string[]; readonly rest: string } {
  let rest = ` ${plainWords(text).join(' ')} `
  const names: string[] = []
  const phrases = labels.map((label) => ({ label, phrase: ` ${plainWords(label).join(' ')} ` }))
  // Two things of one name are both named.
  for (const [phrase, same] of Map.groupBy(longestFirst(phrases), (one) => one.phrase)) {
    if (phrase.trim().length < 2 || !rest.includes(phrase)) continue
    rest = rest.replaceAll(phrase, ' | ')
    names.push(...new Set(same.map(({ label }) => label)))
  }
  return { names, rest: rest.replaceAll('|', ' ') }
}

function longestFirst<T extends { readonly phrase: string }>(phrases: readonly T[]): readonly T[] {
  return phrases.toSorted((a, b) => b.phrase.length - a.phrase.length)
}
