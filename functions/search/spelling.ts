import type { DatabaseSync } from 'node:sqlite'
import { isStopWord, plainWord, searchWords } from '../../shared/graph/search-words.ts'
import { type Misspelt, nearestWords } from '../../shared/graph/spelling.ts'
import { writtenName } from './entity-rows.ts'

/** As names mostly are: they need no look at each letter. */
const PLAIN = /^[a-z0-9 ]+$/

/** Every word of a label or an alias. */
export function wordsOfNames(db: DatabaseSync): ReadonlySet<string> {
  const words = new Set<string>()
  for (const { name } of db.prepare('SELECT DISTINCT name FROM names').iterate()) {
    const plain = String(name)
    for (const word of (PLAIN.test(plain) ? plain : writtenName(plain)).split(' ')) words.add(word)
  }
  return words
}

/** Words that ask, in questions whose texts do not have them: `List the rivers` means no lisp. */
const ASKING: ReadonlySet<string> = new Set('list name show give tell count compare find many much'.split(' '))

const MOST_CHARACTERS = 4_000
/** Words looked at: each that is unknown is held against every word of a name. */
const MOST_UNKNOWN = 8

/** Words that nothing has, each once, with the words of names next to them. `words` is asked for only where there are some. */
export function misspeltWords(db: DatabaseSync, text: string, words: () => ReadonlySet<string>): readonly Misspelt[] {
  const known = db.prepare('SELECT 1 FROM word_counts WHERE term = ?')
  const looked = text.slice(0, MOST_CHARACTERS)
  const unknown = new Set(
    searchWords(looked).flatMap(({ stem, start, end }) => {
      const word = looked.slice(start, end)
      return isStopWord(plainWord(word)) || ASKING.has(plainWord(word)) || known.get(stem) !== undefined ? [] : [word]
    }),
  )
  return [...unknown].slice(0, MOST_UNKNOWN).flatMap((written) => {
    const names = words()
    const meant = names.has(plainWord(written)) ? [] : nearestWords(written, names)
    return meant.length === 0 ? [] : [{ written, meant }]
  })
}
