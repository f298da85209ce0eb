/** Beyond either, a text is folded: its beginning is shown, the rest when it is asked for. */
export interface FoldAt {
  readonly lines: number
  readonly characters: number
}

/** The beginning of a text; `hidden` counts the characters left out. A cut never halves a character. */
export function foldText(
  text: string,
  { lines, characters }: FoldAt,
): { readonly shown: string; readonly hidden: number } {
  const byLines = endOfLine(text, lines)
  const end = wholeCharacter(text, Math.min(byLines, characters))
  // A fold that hides less than it takes to say so helps nobody.
  if (text.length - end < LEAST_HIDDEN) return { shown: text, hidden: 0 }
  return { shown: text.slice(0, end), hidden: text.length - end }
}

const LEAST_HIDDEN = 80

/** Where line number `count` ends. */
function endOfLine(text: string, count: number): number {
  let end = -1
  for (let line = 0; line < count; line += 1) {
    end = text.indexOf('\n', end + 1)
    if (end < 0) return text.length
  }
  return end
}

function wholeCharacter(text: string, at: number): number {
  const code = text.charCodeAt(at - 1)
  return code >= 0xd800 && code <= 0xdbff ? at - 1 : at
}

/**
 * A long text cut at its line ends into pieces of about `size` characters: each is laid out by the browser only while
 * it is seen. A line that is longer than a piece is cut too. Together they are the text, without the line ends cut at.
 */
export function textPieces(text: string, size = 8_192): readonly string[] {
  const pieces: string[] = []
  let start = 0
  while (text.length - start > size) {
    const lineEnd = text.lastIndexOf('\n', start + size)
    const end = lineEnd > start ? lineEnd : wholeCharacter(text, start + size)
    pieces.push(text.slice(start, end))
    start = text[end] === '\n' ? end + 1 : end
  }
  return [...pieces, text.slice(start)]
}
