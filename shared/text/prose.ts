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
const SENTENCE_WORD = /[\p{L}\p{N}]+/gu

function sentencesOf(block: string, says: RegExp): readonly string[] {
  const pieces: string[] = []
  let from = 0
  for (const match of block.matchAll(END)) {
    const end = match.index + match[0].length
    const piece = block.slice(from, end).trim()
    const isWhole = (piece.match(SENTENCE_WORD) ?? []).length >= MIN_WORDS || /[。！？]/u.test(piece)
    if (end < block.length && piece.length < 200 && (!isWhole || goesOn(match[0], block.slice(end, end + 12)))) continue
    if (end < block.length && match[0] === '.' && TITLE.test(piece.slice(-MOST_TITLE))) continue
    pieces.push(piece)
    from = end
  }
  const rest = block.slice(from).trim()
  return [...pieces, rest].filter((piece) => says.test(piece))
}

/** `According to Dr. Ruiz`: a full stop behind a title, which a name follows, ends nothing. */
const TITLE =
  /(?<![\p{L}\p{N}])(?:Dr|Drs|Mr|Mrs|Ms|Prof|Rev|Hon|Gen|Col|Capt|Cpt|Lt|Sgt|Maj|Adm|Gov|Sen|Pres|Fr|St|Ste|Mt)\.$/u
const MOST_TITLE = 7

/** `e.g. this`: a full stop before a small letter ends nothing. */
function goesOn(end: string, next: string): boolean {
  return end === '.' && /^\s+\p{Ll}/u.test(next)
}

/** Bytes of text whose words are counted: more is refused, not cut (about 100 ms of one core). */
export const MAX_WORD_BYTES = 4_194_304

/**
 * The words of a text: runs of letters, marks and digits, with apostrophes and hyphens inside them, and points and
 * commas between digits (3.14, 385,207). In scripts that do not divide words (Chinese, Thai) a run is one word. Linear
 * in the text.
 */
export function splitWords(text: string): readonly string[] {
  return text.match(WORD) ?? []
}

const WORD = /[\p{L}\p{M}\p{N}]+(?:(?:['’-]|(?<=\p{N})[.,](?=\p{N}))[\p{L}\p{M}\p{N}]+)*/gu

/** Characters of a text as people count them (code points), without building a list of a long text's characters. */
export function countCodePoints(text: string): number {
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
