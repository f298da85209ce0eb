/** BM25's saturation and length, chosen by measurement (docs/adr/0048); names count as a title. */
const K1 = 2
const B = 0.75
const NAME_WEIGHT = 2
/** What a pair of neighbours of the question adds where it stands together, and half of it where it stands near. */
const PAIR_BONUS = 0.5
/** Words two stems of a pair may be apart to be near. */
const NEAR = 4

/** A passage as stems. */
export interface ReadPassage {
  readonly node: number
  readonly names: readonly string[]
  readonly body: readonly string[]
}

/** What a passage is scored against; lengths are averages of the passages that were found. */
export interface Wanted {
  readonly weights: ReadonlyMap<string, number>
  readonly idf: (stem: string) => number
  /** `first second`; empty for none. */
  readonly pairs: ReadonlySet<string>
  readonly average: { readonly names: number; readonly body: number }
}

/** BM25 over two fields, counted as one (Robertson, Zaragoza, Taylor, CIKM 2004), and a bonus for pairs. */
export function scorePassage({ names, body }: ReadPassage, { weights, idf, pairs, average }: Wanted): number {
  const inNames = countsOf(names, weights)
  const inBody = countsOf(body, weights)
  const nameLength = 1 - B + (B * names.length) / Math.max(1, average.names)
  const bodyLength = 1 - B + (B * body.length) / Math.max(1, average.body)
  let score = 0
  for (const [stem, weight] of weights) {
    const often = (NAME_WEIGHT * (inNames.get(stem) ?? 0)) / nameLength + (inBody.get(stem) ?? 0) / bodyLength
    score += (weight * idf(stem) * often * (K1 + 1)) / (K1 + often)
  }
  if (pairs.size === 0) return score
  return score + PAIR_BONUS * Math.max(0, pairWorth(names, pairs, idf) + pairWorth(body, pairs, idf))
}

function countsOf(stems: readonly string[], weights: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const stem of stems) if (weights.has(stem)) counts.set(stem, (counts.get(stem) ?? 0) + 1)
  return counts
}

/** Each pair once: its mean idf where it stands together, half of that where it is near, in any order. */
function pairWorth(stems: readonly string[], pairs: ReadonlySet<string>, idf: Wanted['idf']): number {
  let worth = 0
  for (const pair of pairs) {
    const [first = '', second = ''] = pair.split(' ')
    worth += (closeness(stems, first, second) * (idf(first) + idf(second))) / 2
  }
  return worth
}

/** 1: somewhere `second` follows `first`; a half: somewhere they are near; else 0. */
function closeness(stems: readonly string[], first: string, second: string): number {
  let best = 0
  let [lastFirst, lastSecond] = [-Infinity, -Infinity]
  for (const [at, stem] of stems.entries()) {
    if (stem !== first && stem !== second) continue
    if (stem === second && at - lastFirst === 1) return 1
    const other = stem === second ? lastFirst : lastSecond
    if (at - other <= NEAR) best = 0.5
    if (stem === first) lastFirst = at
    else lastSecond = at
  }
  return best
}
