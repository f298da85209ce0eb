/** BM25's saturation and length, chosen by measurement (docs/adr/0043); names count as a title. */
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
  const inNames = placesOf(names, weights)
  const inBody = placesOf(body, weights)
  const nameLength = 1 - B + (B * names.length) / Math.max(1, average.names)
  const bodyLength = 1 - B + (B * body.length) / Math.max(1, average.body)
  let score = 0
  for (const stem of new Set([...inNames.keys(), ...inBody.keys()])) {
    const named = NAME_WEIGHT * (inNames.get(stem)?.length ?? 0)
    const often = named / nameLength + (inBody.get(stem)?.length ?? 0) / bodyLength
    score += ((weights.get(stem) ?? 0) * idf(stem) * often * (K1 + 1)) / (K1 + often)
  }
  for (const pair of pairs) {
    const [first = '', second = ''] = pair.split(' ')
    const close = closeness(inNames, first, second) + closeness(inBody, first, second)
    if (close > 0) score += (PAIR_BONUS * close * (idf(first) + idf(second))) / 2
  }
  return score
}

type Places = ReadonlyMap<string, readonly number[]>

/** Where each wanted stem stands, counted in words. */
function placesOf(stems: readonly string[], weights: ReadonlyMap<string, number>): Places {
  const places = new Map<string, number[]>()
  for (const [at, stem] of stems.entries()) {
    if (!weights.has(stem)) continue
    const known = places.get(stem)
    if (known === undefined) places.set(stem, [at])
    else known.push(at)
  }
  return places
}

/** 1: somewhere `second` follows `first`; a half: somewhere they are near; else 0. */
function closeness(places: Places, first: string, second: string): number {
  const [firsts, seconds] = [places.get(first) ?? [], places.get(second) ?? []]
  if (first === second || firsts.length === 0) return 0
  if (seconds.some((at) => firsts.includes(at - 1))) return 1
  return seconds.some((at) => firsts.some((from) => Math.abs(at - from) <= NEAR)) ? 0.5 : 0
}
