/** What a question asks to be computed over the hits; top_n is the bare `top 5`. */
export const AGGREGATIONS = ['count', 'sum', 'average', 'min', 'max', 'top_n'] as const
export type Aggregation = (typeof AGGREGATIONS)[number]

/**
 * What kind of answer a text asks for: how things are connected (and from where), what is similar, one number over
 * many. Patterns only; the first aggregation of the list that matches decides.
 */
export function questionWords(text: string): {
  readonly path_intent?: true
  readonly path_start_node?: string
  readonly similarity?: true
  readonly aggregation_type?: Aggregation
  readonly top_n?: number
} {
  const start = pathStart(text)
  const top = topCount(text)
  const aggregation =
    AGGREGATION_WORDS.find(([shape]) => shape.test(text))?.[1] ?? (top === undefined ? undefined : 'top_n')
  return {
    ...(start !== undefined || PATH.test(text) ? { path_intent: true } : {}),
    ...(start === undefined ? {} : { path_start_node: start }),
    ...(SIMILAR.test(text) ? { similarity: true } : {}),
    ...(aggregation === undefined ? {} : { aggregation_type: aggregation }),
    ...(top === undefined ? {} : { top_n: top }),
  }
}

const NAME = '("[^"]{1,100}"|[\\p{L}\\p{N}][\\p{L}\\p{N}._-]{0,60}(?: [\\p{L}\\p{N}][\\p{L}\\p{N}._-]{0,60}){0,4}?)'
const ENDS = '(?= (?:to|and|with|connected|linked|related|reach|reaches|in|by|within|over|last|today)\\b|[?.,;!]|$)'
const STARTS: readonly RegExp[] = [
  new RegExp(
    `\\b(?:path|paths|route|routes|way|connection|connections|link|links) (?:from|between) (?:the )?${NAME}${ENDS}`,
    'iu',
  ),
  new RegExp(`\\bhow (?:is|are) (?:the )?${NAME} (?:connected|linked|related)\\b`, 'iu'),
  new RegExp(`\\b(?:connected|linked|related|adjacent) to (?:the )?${NAME}${ENDS}`, 'iu'),
  new RegExp(
    `\\b(?:neighbou?rs of|reachable from|downstream of|upstream of|depends? on|starting (?:at|from)) (?:the )?${NAME}${ENDS}`,
    'iu',
  ),
]
const PATH =
  /\b(?:shortest path|path from|paths? between|routes? between|route from|connected to|linked to|neighbou?rs of|reachable from|downstream of|upstream of|how (?:is|are) .{1,100} (?:connected|linked|related))\b/i
const SIMILAR =
  /\b(?:similar to|similar|resembl(?:es?|ing)|comparable (?:to|with)|same kind (?:as|of)|alike|look(?:s|ing)? like|most like)\b/i

function pathStart(text: string): string | undefined {
  const found = STARTS.map((shape) => shape.exec(text)?.[1]).find((name) => name !== undefined)
  return found?.replace(/^"|"$/g, '')
}

const AGGREGATION_WORDS: readonly (readonly [RegExp, Aggregation])[] = [
  [/\b(?:how many|count of|number of|count)\b/i, 'count'],
  [/\b(?:sum of|total (?:of|number)|in total|sum|total)\b/i, 'sum'],
  [/\b(?:average|mean|avg)\b/i, 'average'],
  [/\b(?:minimum|min|lowest|smallest|fewest|least|shortest distance)\b/i, 'min'],
  [/\b(?:maximum|max|highest|largest|biggest|greatest)\b/i, 'max'],
]

/** `top 5`, `the 5 largest`; at most 1,000. */
function topCount(text: string): number | undefined {
  const [, before, after] =
    /\btop[ -]?(\d{1,4})\b|\b(\d{1,4}) (?:largest|biggest|highest|greatest|smallest|lowest|best|most|least)\b/i.exec(
      text,
    ) ?? []
  const count = Number(before ?? after)
  return count >= 1 && count <= 1_000 ? count : undefined
}
