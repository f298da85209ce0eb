import type { Evaluation, Threshold } from './eval-file.ts'
import {
  type Pair,
  pairResults,
  type ResultLine,
  type Round,
  type RoundHead,
  type VerdictChange,
  verdictChanges,
  verdictsOf,
} from './round-file.ts'
import { holm, type Measured, mcnemar, meanInterval, measureOf, type Share, shareOf } from './statistics.ts'

/** A share of runs: `passed`, `completed`, `goal`, `gate BLOCK/GATE`, `expect NAME`. */
export interface Rate extends Share {
  readonly what: string
  /** Of a gate: the share that passed in the first attempt. */
  readonly at_once?: number
}

const MEASURED = ['usd', 'tokens', 'latency_ms'] as const
type MeasureName = (typeof MEASURED)[number]

interface VariantReport {
  readonly variant: string
  readonly runs: number
  readonly rates: readonly Rate[]
  readonly measures: Readonly<Partial<Record<MeasureName, Measured>>>
  /** Sums. */
  readonly tokens: number
  readonly usd: number
  /** Tokens whose price nobody knows: usd is without them. */
  readonly unpriced_tokens: number
}

/** A share of b minus that of a, over the items both have. */
interface RateDifference {
  readonly what: string
  readonly pairs: number
  readonly difference: number
  readonly low: number
  readonly high: number
  /** Items that b passes and a does not, and the other way round. */
  readonly better: number
  readonly worse: number
  /** McNemar's exact test, and corrected by Holm over the shares of this comparison. */
  readonly p: number
  readonly p_holm: number
}

interface MeasureDifference {
  readonly what: MeasureName
  readonly pairs: number
  readonly difference: number
  readonly low: number
  readonly high: number
}

interface Comparison {
  readonly rates: readonly RateDifference[]
  readonly measures: readonly MeasureDifference[]
}

interface AgainstLast extends Comparison {
  readonly variant: string
  /** Items of both rounds that are the same. */
  readonly items: number
  /** Items that only one of the rounds has, or that are others now: nothing is said of them. */
  readonly left_out: number
  readonly changes: readonly Omit<VerdictChange, 'a' | 'b'>[]
  /** Runs of the changes by item: before, now. */
  readonly runs: Readonly<Record<string, readonly [before: string, now: string]>>
}

interface JudgedThreshold extends Threshold {
  readonly on: string
  readonly seen: number | null
  readonly held: boolean
  readonly words: string
}

export interface Report {
  readonly eval: string
  readonly round: string
  readonly at: string
  readonly items: number
  /** Runs that are to be there, and those that are. */
  readonly planned: number
  readonly done: number
  readonly complete: boolean
  readonly variants: readonly VariantReport[]
  /** The first variant beside each other one. */
  readonly comparisons: readonly (Comparison & { readonly a: string; readonly b: string })[]
  readonly last?: { readonly round: string; readonly at: string; readonly variants: readonly AgainstLast[] }
  readonly thresholds: readonly JudgedThreshold[]
  /** Complete, and every threshold held. */
  readonly ok: boolean
}

/** What a round says, against an earlier one where there is one. */
export function reportRound(round: Round, thresholds: Evaluation['thresholds'], before?: Round): Report {
  const { head, results, end } = round
  const of = (variant: string) => results.filter((result) => result.variant === variant)
  const variants = head.variants.map(({ name }) => variantReport(name, of(name), head.asserted))
  const [first, ...others] = head.variants
  const asserted = [head.asserted, head.asserted] as const
  const last = before === undefined ? undefined : againstLast(round, before)
  const judged = thresholds.flatMap((threshold) =>
    head.variants
      .filter(({ name }) => threshold.variant === undefined || threshold.variant === name)
      .map(({ name }) =>
        judge(threshold, name, {
          report: variants.find((one) => one.variant === name),
          last: last?.find((one) => one.variant === name),
        }),
      ),
  )
  const planned = head.items.length * head.variants.length
  const complete = results.length === planned && end?.why === 'complete'
  return {
    eval: head.eval,
    round: head.round,
    at: head.at,
    items: head.items.length,
    planned,
    done: results.length,
    complete,
    variants,
    comparisons: others.map(({ name: b }) => {
      const a = first?.name ?? ''
      return { a, b, ...compare(pairResults(of(a), of(b)), asserted) }
    }),
    ...(before !== undefined &&
      last !== undefined && { last: { round: before.head.round, at: before.head.at, variants: last } }),
    thresholds: judged,
    ok: complete && judged.every(({ held }) => held),
  }
}

function variantReport(variant: string, results: readonly ResultLine[], asserted: readonly string[]): VariantReport {
  const measures = MEASURED.flatMap((name) => {
    const measured = measureOf(results.flatMap((result) => numberOf(result, name) ?? []))
    return measured === undefined ? [] : [[name, measured] as const]
  })
  return {
    variant,
    runs: results.length,
    rates: ratesOf(results, asserted),
    measures: Object.fromEntries(measures),
    tokens: sum(results.map(({ tokens }) => tokens)),
    usd: sum(results.map(({ usd }) => usd ?? 0)),
    unpriced_tokens: sum(results.map(({ unpriced_tokens = 0 }) => unpriced_tokens)),
  }
}

function ratesOf(results: readonly ResultLine[], asserted: readonly string[]): readonly Rate[] {
  const verdicts = tally(
    results.flatMap((result) => verdictsOf(result, asserted).map(({ what, passed }) => [what, passed] as const)),
  )
  const first = tally(
    results.flatMap(({ gates }) => gates.map((gate) => [`gate ${gate.gate}`, gate.first === 'passed'] as const)),
  )
  return [...verdicts].flatMap(([what, { passed, of }]): readonly Rate[] => {
    const share = shareOf(passed, of)
    const once = first.get(what)
    return share === undefined
      ? []
      : [{ what, ...share, ...(once !== undefined && { at_once: once.passed / once.of }) }]
  })
}

function tally(verdicts: readonly (readonly [what: string, passed: boolean])[]) {
  const counts = new Map<string, { passed: number; of: number }>()
  for (const [what, passed] of verdicts) {
    const count = counts.get(what) ?? { passed: 0, of: 0 }
    counts.set(what, { passed: count.passed + Number(passed), of: count.of + 1 })
  }
  return counts
}

/** undefined: it is not known. A run whose price is known in part has no price to compare; one that called nobody cost nothing. */
function numberOf({ tokens, usd, unpriced_tokens = 0, latency_ms }: ResultLine, name: MeasureName): number | undefined {
  if (name === 'tokens') return tokens
  if (name === 'latency_ms') return latency_ms ?? undefined
  if (unpriced_tokens > 0) return undefined
  return usd ?? (tokens === 0 ? 0 : undefined)
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0)
}

type Asserted = Parameters<typeof verdictChanges>[1]

function compare(pairs: readonly Pair[], asserted: Asserted): Comparison {
  const verdicts = new Map<string, number[]>()
  for (const { a, b } of pairs) {
    const left = new Map(verdictsOf(a, asserted[0]).map(({ what, passed }) => [what, passed]))
    for (const { what, passed } of verdictsOf(b, asserted[1])) {
      const was = left.get(what)
      if (was === undefined) continue
      verdicts.set(what, [...(verdicts.get(what) ?? []), Number(passed) - Number(was)])
    }
  }
  const rates = [...verdicts].map(([what, steps]) => {
    const better = steps.filter((step) => step > 0).length
    const worse = steps.filter((step) => step < 0).length
    const { mean, low, high } = meanInterval(steps)
    return { what, pairs: steps.length, difference: mean, low, high, better, worse, p: mcnemar(better, worse) }
  })
  const corrected = holm(rates.map(({ p }) => p))
  return {
    rates: rates.map((rate, at) => ({ ...rate, p_holm: corrected[at] ?? 1 })),
    measures: MEASURED.flatMap((what): readonly MeasureDifference[] => {
      const steps = pairs.flatMap(({ a, b }) => {
        const [left, right] = [numberOf(a, what), numberOf(b, what)]
        return left === undefined || right === undefined ? [] : [right - left]
      })
      if (steps.length === 0) return []
      const { mean, low, high } = meanInterval(steps)
      return [{ what, pairs: steps.length, difference: mean, low, high }]
    }),
  }
}

function againstLast(now: Round, before: Round): readonly AgainstLast[] {
  const same = sameItems(now.head, before.head)
  const asserted = [before.head.asserted, now.head.asserted] as const
  return now.head.variants
    .filter(({ name }) => before.head.variants.some((one) => one.name === name))
    .map(({ name }) => {
      const of = ({ results }: Round) => results.filter(({ variant, item }) => variant === name && same.has(item))
      const pairs = pairResults(of(before), of(now))
      const changes = verdictChanges(pairs, asserted)
      const all = new Set(
        [...now.results, ...before.results].filter(({ variant }) => variant === name).map(({ item }) => item),
      )
      return {
        variant: name,
        items: pairs.length,
        left_out: all.size - pairs.length,
        changes: changes.map(({ item, what, change, words }) => ({ item, what, change, words })),
        runs: Object.fromEntries(changes.map(({ item, a, b }) => [item, [a.run_id, b.run_id] as const])),
        ...compare(pairs, asserted),
      }
    })
}

function sameItems(a: RoundHead, b: RoundHead): ReadonlySet<string> {
  const before = new Map(b.items.map(({ id, sha256 }) => [id, sha256]))
  return new Set(a.items.filter(({ id, sha256 }) => before.get(id) === sha256).map(({ id }) => id))
}

interface Seen {
  readonly value: number
  readonly low: number
  readonly high: number
}

interface Of {
  readonly report: VariantReport | undefined
  readonly last: AgainstLast | undefined
}

/** What was never measured does not hold. */
function judge(threshold: Threshold, on: string, of: Of): JudgedThreshold {
  const { measure, name, min, max, by } = threshold
  const seen = seenOf(threshold, of)
  const bounds = [...(min === undefined ? [] : [`at least ${min}`]), ...(max === undefined ? [] : [`at most ${max}`])]
  const what = `${measure}${name === undefined ? '' : ` ${name}`} of ${on}`
  const wanted = `${bounds.join(' and ')} ${bounds.length > 1 ? 'are' : 'is'} wanted${by === 'interval' ? ' of the whole interval' : ''}`
  if (seen === undefined)
    return { ...threshold, on, seen: null, held: false, words: `${what} was not measured; ${wanted}` }
  const [low, high] = by === 'interval' ? [seen.low, seen.high] : [seen.value, seen.value]
  const held = (min === undefined || low >= min) && (max === undefined || high <= max)
  const shown = by === 'interval' ? `${figure(seen.value)} (${figure(low)} to ${figure(high)})` : figure(seen.value)
  return { ...threshold, on, seen: seen.value, held, words: `${what} is ${shown}; ${wanted}` }
}

function figure(value: number): string {
  return String(Number(value.toPrecision(4)))
}

function seenOf({ measure, name = '' }: Threshold, { report, last }: Of): Seen | undefined {
  switch (measure) {
    case 'usd':
    case 'tokens':
    case 'latency_ms': {
      const measured = report?.measures[measure]
      return measured && { value: measured.mean, low: measured.low, high: measured.high }
    }
    case 'worse': {
      // Without a round before there is nothing that could have become worse.
      const worse = last?.rates.find(({ what }) => what === 'passed')?.worse ?? 0
      return { value: worse, low: worse, high: worse }
    }
    default: {
      const rate = report?.rates.find(({ what }) => what === (name === '' ? measure : `${measure} ${name}`))
      return rate && { value: rate.rate, low: rate.low, high: rate.high }
    }
  }
}
