import { plainWord, textWords } from './search-words.ts'

/** A word of a text that nothing has, and what may be meant by it. */
export interface Misspelt {
  /** As it stands in the text. */
  readonly written: string
  /** Words of names that are as near as any, in text order. One: it is taken for that. */
  readonly meant: readonly string[]
}

/** A text with each word replaced for which one word was meant; of several nobody says which. */
export function respell(text: string, misspelt: readonly Misspelt[]): string {
  const meant = new Map(
    misspelt.flatMap(({ written, meant: [one, ...more] }) =>
      one === undefined || more.length > 0 ? [] : [[written, one] as const],
    ),
  )
  let spelt = ''
  let before = 0
  for (const { word, start, end } of textWords(text)) {
    spelt += text.slice(before, start) + (meant.get(word) ?? word)
    before = end
  }
  return spelt + text.slice(before)
}

/** In words for people. */
export function didYouMean({ written, meant }: Misspelt): string {
  const [one, ...more] = meant
  if (more.length === 0) return `nothing has the word "${written}": "${one}" was looked for`
  return `nothing has the word "${written}": did you mean ${meant.map((word) => `"${word}"`).join(' or ')}?`
}

/** Letters of the shortest word that is corrected: of a shorter one every other is near. */
const LEAST_LETTERS = 4
/** From so many letters on two of them may be wrong. */
const LONG = 8
/** Told of one word. */
const MOST_MEANT = 5

/**
 * Words that are nearest to one that is none of them, by letters that are wrong, missing, too many or exchanged with the
 * next: one, in long words two. A word with a digit is a number or a code, and never another one.
 */
export function nearestWords(word: string, words: Iterable<string>): readonly string[] {
  const wanted = plainWord(word)
  if (!isWord(wanted)) return []
  const letters = lettersOf(wanted)
  let most = wanted.length < LONG ? 1 : 2
  let nearest: string[] = []
  for (const other of words) {
    if (Math.abs(other.length - wanted.length) > most || bits(letters ^ lettersOf(other)) > 2 * most) continue
    const away = isWord(other) ? distance(wanted, other, most) : Infinity
    if (away > most) continue
    if (away < most) nearest = []
    most = away
    nearest.push(other)
  }
  return nearest.toSorted().slice(0, MOST_MEANT)
}

function isWord(plain: string): boolean {
  return plain.length >= LEAST_LETTERS && !/\p{N}/u.test(plain)
}

/** A bit for each letter. One that is wrong changes two of them at most, so most words need no further look. */
function lettersOf(word: string): number {
  let letters = 0
  for (let i = 0; i < word.length; i += 1) letters |= 1 << (word.charCodeAt(i) & 31)
  return letters
}

function bits(number: number): number {
  let count = 0
  for (let left = number; left !== 0; left &= left - 1) count += 1
  return count
}

/** Optimal string alignment (Damerau, 1964), as far as it matters: more than `most` is `most + 1`. */
function distance(one: string, other: string, most: number): number {
  let [earlier, before]: [number[], number[]] = [[], Array.from({ length: other.length + 1 }, (_, at) => at)]
  for (let i = 1; i <= one.length; i += 1) {
    const row = [i]
    for (let j = 1; j <= other.length; j += 1) {
      const same = one[i - 1] === other[j - 1] ? 0 : 1
      const exchanged = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]
      const steps = [at(before, j) + 1, at(row, j - 1) + 1, at(before, j - 1) + same]
      row.push(Math.min(...steps, ...(exchanged ? [at(earlier, j - 2) + 1] : [])))
    }
    if (Math.min(...row) > most) return most + 1
    ;[earlier, before] = [before, row]
  }
  return at(before, other.length)
}

/** Every index used is inside: the type checker cannot know. */
function at(row: readonly number[], index: number): number {
  return row[index] ?? 0
}
