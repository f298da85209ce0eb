import { type Pair, pairResults, type Round, type Verdict, verdictsOf } from '../../../shared/evals/round-file.ts'

/** One verdict of an item, of both sides; undefined: that side was not asked. */
interface VerdictSides {
  readonly what: string
  readonly a: Verdict | undefined
  readonly b: Verdict | undefined
}

interface ItemSides extends Pair {
  readonly passed: VerdictSides
  /** All others, those that differ first. */
  readonly verdicts: readonly VerdictSides[]
}

/** `3 of 12` of each verdict, a side. */
interface Count {
  readonly what: string
  readonly a: string
  readonly b: string
}

export interface VariantSides {
  readonly counts: readonly Count[]
  readonly items: readonly ItemSides[]
  /** Items without a result of one of the sides. */
  readonly missing: number
}

export const SHOWN = { all: 'all', differ: 'that differ', failed_a: 'that A fails', failed_b: 'that B fails' } as const
export type Shown = keyof typeof SHOWN

/** Two variants of a round, item by item, in the order of the round: results come as their runs end. */
export function variantSides({ head, results }: Round, a: string, b: string): VariantSides {
  const of = (name: string) => results.filter(({ variant }) => variant === name)
  const place = new Map(head.items.map(({ id }, i) => [id, i]))
  const items = pairResults(of(a), of(b))
    .map((pair) => itemSides(pair, head.asserted))
    .toSorted((x, y) => (place.get(x.item) ?? 0) - (place.get(y.item) ?? 0))
  const whats = [...new Set(items.flatMap(({ passed, verdicts }) => [passed, ...verdicts].map(({ what }) => what)))]
  return { counts: whats.map((what) => countOf(what, items)), items, missing: head.items.length - items.length }
}

function itemSides(pair: Pair, asserted: readonly string[]): ItemSides {
  const [left, right] = [pair.a, pair.b].map(
    (result) => new Map(verdictsOf(result, asserted).map((verdict) => [verdict.what, verdict])),
  )
  const whats = [...new Set([...(left?.keys() ?? []), ...(right?.keys() ?? [])])]
  const [passed = { what: 'passed', a: undefined, b: undefined }, ...verdicts] = whats.map((what) => ({
    what,
    a: left?.get(what),
    b: right?.get(what),
  }))
  return { ...pair, passed, verdicts: verdicts.toSorted((x, y) => Number(isDifferent(y)) - Number(isDifferent(x))) }
}

/** Whether one side passes what the other does not, or was not asked. */
export function isDifferent({ a, b }: VerdictSides): boolean {
  return a?.passed !== b?.passed
}

function countOf(what: string, items: readonly ItemSides[]): Count {
  const all = items.flatMap(({ passed, verdicts }) => [passed, ...verdicts].filter((one) => one.what === what))
  const words = (side: 'a' | 'b') => {
    const asked = all.flatMap((one) => one[side] ?? [])
    return `${asked.filter(({ passed }) => passed).length} of ${asked.length}`
  }
  return { what, a: words('a'), b: words('b') }
}

export function shownItems(items: VariantSides['items'], shown: Shown): VariantSides['items'] {
  return items.filter(({ passed, verdicts }) => {
    if (shown === 'differ') return [passed, ...verdicts].some(isDifferent)
    if (shown === 'failed_a') return passed.a?.passed !== true
    return shown === 'failed_b' ? passed.b?.passed !== true : true
  })
}
