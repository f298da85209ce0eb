const SEGMENTER = new Intl.Segmenter('en', { granularity: 'sentence' })
const WORD = /[\p{L}\p{N}]+/gu
const RULED = /^(?:\||```|~~~|[-*_=\s]+$)/
const MARKER = /^(?:#{1,6}\s+|>\s*|[-*+•]\s+|\d{1,3}[.)]\s+)+/

const STOP = new Set(
  'a an and are as at be but by do each every for from has have how i if in into is it its no not of on or our shall so such than that the their them then there these they this those to was we were what when where which who will with you your'.split(
    ' ',
  ),
)

/**
 * Sentences of a text in order, without repeats: line by line, list and heading marks taken off, lines that are table
 * rows, fences or rules left out (unless there is nothing else). Each has at least one letter or digit.
 */
export function sentencesOf(text: string): readonly string[] {
  const lines = text.split(/\r\n|\n|\r/)
  const prose = lines.filter((line) => !RULED.test(line.trim())).flatMap(split)
  return [...new Set(prose.length > 0 ? prose : lines.flatMap(split))]
}

/** Lower-case words that carry meaning, a plural `s` taken off. */
export function termsOf(text: string): readonly string[] {
  const words = text.toLowerCase().match(WORD) ?? []
  return words.filter((word) => !STOP.has(word)).map((word) => (word.length > 3 ? word.replace(/s$/, '') : word))
}

/** A line without its list, heading and quotation marks, each white space one blank. */
export function plainLine(line: string): string {
  return line.trim().replace(MARKER, '').replace(/\s+/g, ' ')
}

function split(line: string): string[] {
  const plain = plainLine(line)
  return [...SEGMENTER.segment(plain)].map(({ segment }) => segment.trim()).filter((part) => /[\p{L}\p{N}]/u.test(part))
}
