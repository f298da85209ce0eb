import { isStopWord, plainWord } from '../graph/search-words.ts'

/** Words of a question that are looked at, words of one name, and names that are looked up. */
const MOST_WORDS = 24
const LONGEST = 4
const MOST_NAMES = 60

/**
 * What of a question may be the name of something: words that stand together, the longest first, and none that begins or
 * ends with a word of grammar. Whether something has the name is for the index to say.
 */
export function namesToLookUp(topic: string): readonly string[] {
  const words = (topic.match(/[\p{L}\p{N}][\p{L}\p{M}\p{N}.'’&/-]*/gu) ?? []).map(withoutEnd).slice(0, MOST_WORDS)
  const stops = words.map((word) => isStopWord(plainWord(word)))
  const names: string[] = []
  for (let length = LONGEST; length >= 1; length -= 1) {
    for (let at = 0; at + length <= words.length; at += 1) {
      const grammar = stops[at] === true || stops[at + length - 1] === true
      const name = words.slice(at, at + length).join(' ')
      if (!grammar && name.length > 1) names.push(name)
    }
  }
  return [...new Set(names)].slice(0, MOST_NAMES)
}

/** `Norway's` names Norway; a full stop ends the sentence, not the name. */
function withoutEnd(word: string): string {
  return word.replace(/['’]s$/, '').replace(/[.'’&/-]+$/, '')
}
