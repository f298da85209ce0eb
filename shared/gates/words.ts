/** Bytes of text whose words are counted: more is refused, not cut (about 100 ms of one core). */
export const MAX_WORD_BYTES = 4_194_304

/**
 * The words of a text: runs of letters, marks and digits, with apostrophes and hyphens inside them, and points and
 * commas between digits (3.14, 385,207). In scripts that do not divide words (Chinese, Thai) a run is one word. Linear
 * in the text.
 */
export function wordsOf(text: string): readonly string[] {
  return text.match(WORD) ?? []
}

const WORD = /[\p{L}\p{M}\p{N}]+(?:(?:['’-]|(?<=\p{N})[.,](?=\p{N}))[\p{L}\p{M}\p{N}]+)*/gu
