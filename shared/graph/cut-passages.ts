/** A piece of a body; `start` in UTF-16 units. */
export interface Passage {
  readonly start: number
  readonly text: string
}

/** Characters a passage aims at: about 150 English words, a paragraph or two. */
const AIM = 900
/** A passage without any end of a sentence is cut at a blank, or hard, here. */
const MOST = 1_400
/** Passages of one body; 900 characters each, so about 1 MB. What comes after is not searched. */
const MOST_PASSAGES = 1_200

/**
 * A body cut into passages that together are the body, each ending where a paragraph or a sentence ends where there is
 * such a place near AIM. A short body is one passage.
 */
export function cutPassages(body: string): readonly Passage[] {
  const passages: Passage[] = []
  for (let start = 0; start < body.length && passages.length < MOST_PASSAGES; ) {
    const end = body.length - start <= MOST ? body.length : start + cutAt(body.slice(start, start + MOST))
    passages.push({ start, text: body.slice(start, end) })
    start = end
  }
  return passages
}

/** The last end of a paragraph in the second half, else of a sentence, else a blank, else a whole character. */
function cutAt(piece: string): number {
  for (const ending of ENDINGS) {
    const ends = [...piece.matchAll(ending)].map(({ index, 0: { length } }) => index + length)
    const near = ends.filter((end) => end >= AIM / 2)
    if (near.length > 0) return near.reduce((best, end) => (Math.abs(end - AIM) < Math.abs(best - AIM) ? end : best))
  }
  const last = piece.charCodeAt(piece.length - 1)
  return last >= 0xd800 && last <= 0xdbff ? piece.length - 1 : piece.length
}

const ENDINGS = [/\n[^\S\n]*\n\s*/g, /[.!?。！？]["'”’)\]]*\s+/g, /\s+/g]
