/** A citation: the ids it names and where it stands (UTF-16 units). */
export interface Citation {
  readonly ids: readonly string[]
  readonly at: number
  readonly end: number
}

/** Bytes of text whose citations, sentences or numbers are read. */
export const MAX_CITING_BYTES = 1_048_576

/**
 * The citations of a text: `[id]`, `[^id]`, `[1, 2]`, `[a; b]`. An id is letters, digits and `. _ : / # @ -` without
 * blanks, so `[see the note]` is none; nor is the text of a Markdown link, `[here](url)`, nor a task's `[x]`. Linear: a
 * search starts only at `[` and ends at the next one.
 */
export function citationsIn(text: string): readonly Citation[] {
  return [...text.matchAll(CITATION)].map((match) => {
    const [whole] = match
    const ids = whole
      .slice(1, -1)
      .split(/[,;]/)
      .map((part) => part.trim().replace(/^\^/, ''))
    return { ids, at: match.index, end: match.index + whole.length }
  })
}

const ID = '\\^?[\\p{L}\\p{N}_][\\p{L}\\p{N}\\p{M}_.:/#@-]*'

const CITATION = new RegExp(`(?<!^[ \\t]{0,20}[-*+] (?=\\[[xX]\\]))\\[ ?${ID}(?: ?[,;] ?${ID})* ?\\](?!\\()`, 'gmu')
