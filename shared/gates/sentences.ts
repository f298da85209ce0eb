/** Words below which a piece (`Dr.`, `No.`, `e.g.`) is the start of the next sentence. */
const MIN_WORDS = 3

/**
 * The sentences of a text in order. A sentence ends at . ! ? or … before a blank, at 。！？, at a blank line and before a
 * list item, heading or table row; marks, brackets and citations right after its end still belong to it (`So it is.
 * [1]`). Headings, code fences, rules and footnote definitions are no sentences. Linear.
 */
export function sentencesIn(text: string): readonly string[] {
  return blocksOf(text, { apart: APART, item: ITEM }).flatMap((block) => sentencesOf(block, /[\p{L}\p{N}]/u))
}

/**
 * The same with nothing left out: whatever has a letter, a digit or a sign (`❌`) says something, in a heading, a footnote
 * or the line of a code fence too. What stands before a line to dress it (`#`, `-`, `>`) is none of it.
 */
export function allSentencesIn(text: string): readonly string[] {
  return blocksOf(text, { apart: RULE, item: DRESS }).flatMap((block) => sentencesOf(block, SAYS))
}

const APART = /^\s{0,20}(?:#{1,6}\s|```|~~~|[-*_=|:\s]{3,200}$|\[\^[^\]\n]{1,100}\]:)/
const ITEM = /^\s{0,20}(?:[-*+•]|\d{1,4}[.)]|\|)\s/
const RULE = /^[-*_=|:~`+>#\s]{1,1000}$/
const SAYS = /[\p{L}\p{N}]|(?![|~=+<>^©®™°✓✔✅])[\p{Sm}\p{So}]/u

/** What dresses a line; before a number `>` is a sign. */
export const DRESS = /^\s{0,20}(?:(?:[-*+•]|\d{1,4}[.)]|\||#{1,6})\s{1,20}|>\s{0,20}(?=\n|$|[^\s\p{N}\p{Sc}])){1,5}/u

interface Cutting {
  readonly apart: RegExp
  readonly item: RegExp
}

/** Paragraphs, list items and table rows, each on one line. */
function blocksOf(text: string, { apart, item }: Cutting): readonly string[] {
  const blocks: string[][] = [[]]
  for (const line of text.split('\n')) {
    const isApart = line.trim() === '' || apart.test(line)
    if (isApart || item.test(line)) blocks.push([])
    if (!isApart) blocks.at(-1)?.push(line.replace(item, ''))
  }
  return blocks.map((lines) => lines.join(' ').trim()).filter((block) => block !== '')
}

/** The end of a sentence, and what still belongs to it. */
const END = /(?:[.!?…]["'”’»)\]*_]{0,5}(?=\s|\[|$)|[。！？])(?:\s?\[[^[\]\n]{1,300}\](?!\())*/gu
const WORD = /[\p{L}\p{N}]+/gu

function sentencesOf(block: string, says: RegExp): readonly string[] {
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
  return [...pieces, rest].filter((piece) => says.test(piece))
}

/** `e.g. this`: a full stop before a small letter ends nothing. */
function goesOn(end: string, next: string): boolean {
  return end === '.' && /^\s+\p{Ll}/u.test(next)
}
