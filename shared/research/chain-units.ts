import type { EvidenceUnit } from './evidence-units.ts'

interface Wanted {
  /** Terms to cover. */
  readonly open: readonly string[]
  readonly weights: ReadonlyMap<string, number>
  /** The thing the question names: the chain begins with what is about it or mentions it. */
  readonly start?: { readonly entity_id: string; readonly name: readonly string[] }
}

/** Units of one chain: hops of a question, and more to spare. */
const MAX_UNITS = 6

/**
 * Greedy: each next unit adds most weight of terms still open, long ones less; a tie goes to the earlier. Only units
 * linked to those before are looked at: about one of their entities, or with the whole name the chain began with. A hop
 * must itself say something that is asked: the area of a country is none of its capital's.
 */
export function chainUnits(units: readonly EvidenceUnit[], { open: terms, weights, start }: Wanted): EvidenceUnit[] {
  const open = new Set(terms)
  const entities = new Set(start === undefined ? [] : [start.entity_id])
  const mentions = (unit: EvidenceUnit) =>
    start !== undefined && start.name.length > 0 && start.name.every((term) => unit.terms.has(term))
  const isLinked = (unit: EvidenceUnit) => [...unit.entities].some((id) => entities.has(id)) || mentions(unit)
  const chosen: EvidenceUnit[] = []
  while (open.size > 0 && chosen.length < MAX_UNITS) {
    const next = bestUnit(entities.size === 0 ? units : units.filter(isLinked), open, weights)
    if (next === undefined) break
    chosen.push(next)
    for (const id of next.entities) entities.add(id)
    for (const term of next.terms) open.delete(term)
  }
  return chosen
}

function bestUnit(units: readonly EvidenceUnit[], open: ReadonlySet<string>, weights: ReadonlyMap<string, number>) {
  let found: { readonly unit?: EvidenceUnit; readonly gain: number } = { gain: 0 }
  for (const unit of units) {
    let gain = 0
    for (const term of unit.terms) if (open.has(term)) gain += weights.get(term) ?? 0
    gain /= Math.sqrt(unit.terms.size + 4)
    // Sums of fractions: less than this is no difference.
    if (gain > found.gain + 1e-9) found = { unit, gain }
  }
  return found.unit
}
