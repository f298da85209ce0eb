import { plainWords } from './question-terms.ts'

/** Whether a text names a thing: all words of its label stand in it, one after the other. */
export function namedIn(text: string, label: string | undefined): boolean {
  const words = plainWords(label ?? '')
  // A single letter or digit is in every text.
  if (words.join('').length < 2) return false
  return ` ${plainWords(text).join(' ')} `.includes(` ${words.join(' ')} `)
}
