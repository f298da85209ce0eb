import { strictNumber } from '../../text/numbers.ts'
import { factText, groupFacts, plainName, type ShownEvidence } from '../claims/shown-evidence.ts'
import { namesIn } from '../question/label-mentions.ts'
import { contentTerms } from '../question/terms.ts'

/** `larger`, `older`, `more populous`: they ask for two numbers side by side, nothing says them of one thing. */
export const COMPARATIVE =
  /\b(?:larger|bigger|greater|higher|longer|taller|older|smaller|lower|shorter|younger|deeper|faster|slower|heavier|lighter|compare[ds]?|comparison|difference|versus|vs)\b/gi

/** What larger means where nothing else is said. */
const SIZE = /\b(?:larger|bigger|smaller)\b/i

/**
 * The one line that puts the named things side by side, greatest first, by the fact the question asks for: only where
 * each of them has exactly one number of it.
 */
export function compareFacts(topic: string, evidence: readonly ShownEvidence[]): string | undefined {
  if (topic.search(COMPARATIVE) < 0) return undefined
  const items = evidence.map((item, place) => ({ item, n: place + 1, facts: groupFacts(item.facts ?? []) }))
  const { names } = namesIn(topic, [...new Set(evidence.flatMap(({ label }) => label ?? []))])
  const named = names.map((name) => items.filter(({ item }) => item.label === name))
  const predicates = (named[0] ?? []).flatMap(({ facts }) => facts.map(({ predicate }) => predicate))
  const predicate = askedPredicate(topic, predicates)
  if (named.length < 2 || predicate === undefined) return undefined
  // A city and a country may have one name: what has such a number is meant.
  const rows = named.flatMap((same) => same.flatMap((one) => comparedRow(one, predicate) ?? []).slice(0, 1))
  if (rows.length < named.length) return undefined
  const sorted = rows.toSorted((a, b) => b.number - a.number || a.n - b.n)
  const word = factText('', predicate, []).replace(/^, |: $/g, '')
  return `By ${word}, greatest first: ${sorted.map(({ label, written, n }) => `${label} ${written} [${n}]`).join(', ')}.`
}

/** The predicate with a word of the question; of a larger or smaller thing its area or size. */
function askedPredicate(topic: string, predicates: readonly string[]): string | undefined {
  const saying = (terms: readonly string[]) =>
    predicates.find((predicate) => contentTerms(factText('', predicate, [])).some((term) => terms.includes(term)))
  return saying(contentTerms(topic)) ?? (SIZE.test(topic) ? saying(contentTerms('area size')) : undefined)
}

interface ComparedItem {
  readonly item: ShownEvidence
  readonly n: number
  readonly facts: ReturnType<typeof groupFacts>
}

function comparedRow({ item, n, facts }: ComparedItem, predicate: string) {
  const objects = facts.find((group) => group.predicate === predicate)?.objects ?? []
  const written = objects[0] ?? ''
  const number = objects.length === 1 ? strictNumber(written.replaceAll(',', '')) : undefined
  return number === undefined ? undefined : { label: plainName(item.label ?? item.entity_id), n, number, written }
}
