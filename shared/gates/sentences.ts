/** Words below which a piece (`Dr.`, `No.`, `e.g.`) is the start of the next sentence. */
const MIN_WORDS = 3

/**
 * The sentences of a text in order. A sentence ends at . ! ? or … before a blank, at 。！？, at a blank line and before a
 * list item, heading or table row; marks, brackets and citations right after its end still belong to it (`So it is.
 * [1]`). Headings, code fences, rules and footnote definitions are no sentences. Linear.
 */
export function sentencesIn(text: string): readonly string[] {
  return blocksOf(text).flatMap(sentencesOf)
}

const APART = /^\s{0,20}(?:#{1,6}\s|```|~~~|[-*_=|:\s]{3,200}$|\[\^[^\]\n]{1,100}\]:)/
const ITEM = /^\s{0,20}(?:[-*+•]|\d{1,4}[.)]|\|)\s/

/** Paragraphs, list items and table rows, each on one line. */
function blocksOf(text: string): readonly string[] {
  const blocks: string[][] = [[]]
  for (const line of text.split('\n')) {
    const isApart = line.trim() === '' || APART.test(line)
    if (isApart || ITEM.test(line)) blocks.push([])
    if (!isApart) blocks.at(-1)?.push(line.replace(ITEM, ''))
  }
  return blocks.map((lines) => lines.join(' ').trim()).filter((block) => block !== '')
}

/** The end of a sentence, and what still belongs to it. */
const END = /(?:[.!?…]["'”’»)\]*_]{0,5}(?=\s|\[|$)|[。！？])(?:\s?\[[^[\]\n]{1,300}\](?!\())*/gu
const WORD = /[\p{L}\p{N}]+/gu

function sentencesOf(block: string): readonly string[] {
  const pieces: string[] = []
  let from = 0
  for (const match of block.matchAll(END)) {
    const end = match.index + match[0].length
    const piece = block.slice(from, end).trim()
    const isWhole = (piece.match(WORD) ?? []).length >= MIN_WORDS || /[。！？]/u.test(piece)
    if (end < block.length && piece.length < 200 && (!isWhole || goesOn(match[0], block.slice(end, end + 12)))) continue
    pieces.push(piece)
    from = end
  }
  const rest = block.slice(from).trim()
  return [...pieces, rest].filter((piece) => /[\p{L}\p{N}]/u.test(piece))
}

/** `e.g. this`: a full stop before a small letter ends nothing. */
function goesOn(end: string, next: string): boolean {
  return end === '.' && /^\s+\p{Ll}/u.test(next)
}
