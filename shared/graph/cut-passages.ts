import { wordSkimmer } from './search-words.ts'

/** A piece of a body; `start` in UTF-16 units. */
interface Passage {
  readonly start: number
  readonly text: string
}

/** Characters a passage aims at: about 150 English words, a paragraph or two. */
const AIMED_CHARACTERS = 900

/** A passage without any end of a sentence is cut at a blank, or hard, here. */
const MOST_CHARACTERS = 1_400

/** Passages of one body; 900 characters each, so about 1 MB. What comes after is not searched. */
const MOST_PASSAGES = 1_200

/**
 * A body cut into passages that together are the body, each ending where a paragraph or a sentence ends where there is
 * such a place near AIM. A short body is one passage.
 */
export function cutPassages(body: string): readonly Passage[] {
  const passages: Passage[] = []
  for (let start = 0; start < body.length && passages.length < MOST_PASSAGES; ) {
    const end =
      body.length - start <= MOST_CHARACTERS ? body.length : start + cutAt(body.slice(start, start + MOST_CHARACTERS))
    passages.push({ start, text: body.slice(start, end) })
    start = end
  }
  return passages
}

/** The last end of a paragraph in the second half, else of a sentence, else a blank, else a whole character. */
function cutAt(piece: string): number {
  for (const ending of ENDINGS) {
    const ends = [...piece.matchAll(ending)].map(({ index, 0: { length } }) => index + length)
    const near = ends.filter((end) => end >= AIMED_CHARACTERS / 2)
    if (near.length > 0)
      return near.reduce((best, end) =>
        Math.abs(end - AIMED_CHARACTERS) < Math.abs(best - AIMED_CHARACTERS) ? end : best,
      )
  }
  const last = piece.charCodeAt(piece.length - 1)
  return last >= 0xd800 && last <= 0xdbff ? piece.length - 1 : piece.length
}

const ENDINGS = [/\n[^\S\n]*\n\s*/g, /[.!?。！？]["'”’)\]]*\s+/g, /\s+/g]

/** Characters of a snippet. */
const SNIPPET_CHARACTERS = 300

/**
 * The part of a text to show for a search: from the start of the sentence whose neighbourhood has most of the wanted
 * stems (each counts once, by its weight), as many whole words as fit. `skim` looks for these stems; for several texts it is made once.
 */
export function cutSnippet(
  text: string,
  weights: ReadonlyMap<string, number>,
  skim = wordSkimmer(new Set(weights.keys())),
): string {
  const trimmed = text.trim()
  if (trimmed.length <= SNIPPET_CHARACTERS) return trimmed
  const starts = [
    0,
    ...[...trimmed.matchAll(/[.!?。！？]["'”’)\]]*\s+|\n+\s*/g)].map(({ index, 0: { length } }) => index + length),
  ]
  const words = skim(trimmed).met
  let best = { start: 0, worth: -1 }
  for (const start of starts) {
    const seen = new Set(
      words.filter((word) => word.start >= start && word.end <= start + SNIPPET_CHARACTERS).map(({ stem }) => stem),
    )
    const worth = [...seen].reduce((sum, stem) => sum + (weights.get(stem) ?? 0), 0)
    if (worth > best.worth) best = { start, worth }
  }
  const shown = trimmed.slice(best.start, best.start + SNIPPET_CHARACTERS)
  if (best.start + SNIPPET_CHARACTERS >= trimmed.length) return shown
  const blank = shown.search(/\s\S*$/)
  const whole = shown.slice(0, blank > 0 ? blank : SNIPPET_CHARACTERS - 1)
  return `${/[\ud800-\udbff]$/.test(whole) ? whole.slice(0, -1) : whole}…`
}
