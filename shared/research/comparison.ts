import { strictNumber } from '../gates/strict-number.ts'
import { namedIn } from './names-in-question.ts'
import { plainName } from './plain-name.ts'
import { termsOf } from './question-terms.ts'
import { factText, groupFacts, type ShownEvidence } from './shown-evidence.ts'

/** `larger`, `older`, `more populous`: they ask for two numbers side by side, nothing says them of one thing. */
export const COMPARATIVE =
  /\b(?:larger|bigger|greater|higher|longer|taller|older|smaller|lower|shorter|younger|deeper|faster|slower|heavier|lighter|compare[ds]?|comparison|difference|versus|vs)\b/gi

/**
 * The one line that puts the named things side by side, greatest first, by the fact the question asks for: only where
 * each of them has exactly one number of it.
 */
export function compareFacts(topic: string, evidence: readonly ShownEvidence[]): string | undefined {
  if (topic.search(COMPARATIVE) < 0) return undefined
  const named = evidence.flatMap((item, place) => (namedIn(topic, item.label) ? [{ item, n: place + 1 }] : []))
  const wanted = new Set(termsOf(topic))
  const predicates = groupFacts(named[0]?.item.facts ?? []).map(({ predicate }) => predicate)
  const predicate = predicates.find((one) => termsOf(factText('', one, [])).some((term) => wanted.has(term)))
  if (named.length < 2 || predicate === undefined) return undefined
  const rows = named.flatMap(({ item, n }) => {
    const objects = groupFacts(item.facts ?? []).find((group) => group.predicate === predicate)?.objects ?? []
    const number = objects.length === 1 ? strictNumber((objects[0] ?? '').replaceAll(',', '')) : undefined
    return number === undefined
      ? []
      : [{ label: plainName(item.label ?? item.entity_id), n, number, written: objects[0] ?? '' }]
  })
  if (rows.length < named.length) return undefined
  const sorted = rows.toSorted((a, b) => b.number - a.number || a.n - b.n)
  const word = factText('', predicate, []).replace(/^, |: $/g, '')
  return `By ${word}, greatest first: ${sorted.map(({ label, written, n }) => `${label} ${written} [${n}]`).join(', ')}.`
}
