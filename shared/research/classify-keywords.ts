import { geoBounds, zoneName } from './place-words.ts'
import { questionWords } from './question-words.ts'
import type { Hints } from './search-hints.ts'
import { timeRange } from './time-words.ts'

/** What a classifier makes of a topic: the fields of ClassifierOutput it decides. */
export interface Classification {
  readonly tier: '0' | '1' | '3'
  readonly intent: string
  readonly confidence: number
  readonly hints: Hints
}

/** Tier 0: keyword patterns. Confidence 1 and no intent where one matched; undefined where none did. */
export function classifyKeywords(topic: string, now: Date): Classification | undefined {
  const looked = topic.slice(0, MAX_CHARACTERS)
  const [time_range, geo_bounds, zone] = [timeRange(looked, now), geoBounds(looked), zoneName(looked)]
  const hints: Hints = {
    ...(time_range === undefined ? {} : { time_range }),
    ...(geo_bounds === undefined ? {} : { geo_bounds }),
    ...(zone === undefined ? {} : { zone }),
    ...questionWords(looked),
  }
  return Object.keys(hints).length === 0 ? undefined : { tier: '0', intent: '', confidence: 1, hints }
}

/** Characters of a topic whose patterns are looked for: a question, not a document. */
const MAX_CHARACTERS = 4_000
