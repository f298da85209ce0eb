/** Characters of a text as people count them (code points), without building a list of a long text's characters. */
export function codePoints(text: string): number {
  let count = 0
  for (const _ of text) count += 1
  return count
}

/**
 * Whether a reader sees anything of a text: a letter, digit, sign or mark of punctuation. White space, controls, zero-width
 * characters, fillers, the blank Braille pattern and marks that stand on nothing are nothing, however many there are.
 */
export function isVisible(text: string): boolean {
  return SEEN.test(text)
}

const SEEN = /(?![\p{Default_Ignorable_Code_Point}\u2800\ufffc\u{1d159}])[\p{L}\p{N}\p{P}\p{S}\p{Co}]/u
