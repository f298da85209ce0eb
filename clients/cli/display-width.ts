/** Columns a terminal gives a text: two for wide characters and emoji, none for marks; plain text only (plain-text.ts). */
export function displayWidth(text: string): number {
  // Most lines have nothing special: their code points are counted.
  if (!SPECIAL.test(text)) return text.length
  return sum([...GRAPHEMES.segment(text)].map(({ segment }) => widthOf(segment)))
}

/** As much of the beginning of a text as has that many columns. */
export function startOf(text: string, columns: number): string {
  return fitting(segmentsOf(text), columns).join('')
}

/** As much of its end. */
export function endOf(text: string, columns: number): string {
  return fitting(segmentsOf(text).toReversed(), columns).toReversed().join('')
}

const GRAPHEMES = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** Marks, joiners, emoji, surrogates, and what Unicode's EastAsianWidth.txt calls W or F. */
const WIDE =
  /^(?:\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}]|.\ufe0f)/u
const SPECIAL = /[\p{M}\p{Cf}\p{Emoji_Presentation}\u1100-\u11ff\u2e80-\ud7ff\uf900-\uffff\u{10000}-\u{10ffff}]/u
const NOTHING = /^[\p{M}\p{Cf}]+$/u

function widthOf(segment: string): number {
  if (NOTHING.test(segment)) return 0
  return WIDE.test(segment) ? 2 : 1
}

function segmentsOf(text: string): readonly string[] {
  return [...GRAPHEMES.segment(text)].map(({ segment }) => segment)
}

function fitting(segments: readonly string[], columns: number): readonly string[] {
  let left = columns
  const end = segments.findIndex((segment) => {
    left -= widthOf(segment)
    return left < 0
  })
  return end < 0 ? segments : segments.slice(0, end)
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0)
}
