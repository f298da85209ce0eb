import { searchWords } from './search-words.ts'

/** Characters of a snippet. */
const MOST = 300

/**
 * The part of a text to show for a search: from the start of the sentence whose neighbourhood has most of the wanted
 * stems (each counts once, by its weight), as many whole words as fit.
 */
export function cutSnippet(text: string, weights: ReadonlyMap<string, number>): string {
  const trimmed = text.trim()
  if (trimmed.length <= MOST) return trimmed
  const starts = [
    0,
    ...[...trimmed.matchAll(/[.!?。！？]["'”’)\]]*\s+|\n+\s*/g)].map(({ index, 0: { length } }) => index + length),
  ]
  const words = searchWords(trimmed).filter(({ stem }) => weights.has(stem))
  let best = { start: 0, worth: -1 }
  for (const start of starts) {
    const seen = new Set(
      words.filter((word) => word.start >= start && word.end <= start + MOST).map(({ stem }) => stem),
    )
    const worth = [...seen].reduce((sum, stem) => sum + (weights.get(stem) ?? 0), 0)
    if (worth > best.worth) best = { start, worth }
  }
  const shown = trimmed.slice(best.start, best.start + MOST)
  if (best.start + MOST >= trimmed.length) return shown
  const blank = shown.search(/\s\S*$/)
  const whole = shown.slice(0, blank > 0 ? blank : MOST - 1)
  return `${/[\ud800-\udbff]$/.test(whole) ? whole.slice(0, -1) : whole}…`
}
