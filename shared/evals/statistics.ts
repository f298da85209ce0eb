import { wilsonInterval } from '../table/confidence-interval.ts'

/** Everything here is at 95 %. docs/eval.md has the formulas and where they come from. */
const CONFIDENCE = 0.95

/** A share with Wilson's interval (Wilson 1927, J. Amer. Statist. Assoc. 22, 209-212). */
export interface Share {
  readonly passed: number
  readonly of: number
  readonly rate: number
  readonly low: number
  readonly high: number
}

export function shareOf(passed: number, of: number): Share | undefined {
  if (of === 0) return undefined
  const { low, high } = wilsonInterval(CONFIDENCE, passed, of)
  // The ends are exact; rounding may leave them a hair outside.
  return { passed, of, rate: passed / of, low: Math.max(0, low), high: Math.min(1, high) }
}

/** Of numbers: their mean with the bootstrap's percentile interval, and two order statistics. */
export interface Measured {
  readonly of: number
  readonly mean: number
  readonly low: number
  readonly high: number
  readonly median: number
  readonly p95: number
}

export function measureOf(values: readonly number[]): Measured | undefined {
  if (values.length === 0) return undefined
  const sorted = values.toSorted((a, b) => a - b)
  return { of: values.length, ...meanInterval(values), median: quantile(sorted, 0.5), p95: quantile(sorted, 0.95) }
}

/** The nearest rank: a value that was seen. */
function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0
}

/** Resamples, and where their randomness begins: the same values give the same interval everywhere. */
const BOOTSTRAP = { resamples: 2_000, seed: 20_270_923 } as const

/**
 * The mean and the percentile interval of its bootstrap (Efron and Tibshirani 1993, An Introduction to the Bootstrap, 13.3):
 * the 2.5 % and 97.5 % points of the means of resamples. With one value there is no interval but that value.
 */
export function meanInterval(values: readonly number[]): {
  readonly mean: number
  readonly low: number
  readonly high: number
} {
  const size = values.length
  const mean = meanOf(values)
  const random = randomNumbers(BOOTSTRAP.seed)
  const means = new Float64Array(BOOTSTRAP.resamples)
  for (let sample = 0; sample < means.length; sample += 1) {
    let sum = 0
    for (let drawn = 0; drawn < size; drawn += 1) sum += values[Math.floor(random() * size)] ?? 0
    means[sample] = sum / size
  }
  means.sort()
  const tail = (1 - CONFIDENCE) / 2
  const at = (share: number) =>
    means[Math.min(means.length - 1, Math.max(0, Math.ceil(share * means.length) - 1))] ?? mean
  return { mean, low: at(tail), high: at(1 - tail) }
}

/** 0 of none. */
export function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)
}

/** Mulberry32, numbers from 0 to below 1: short, and good enough to draw with. */
function randomNumbers(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/**
 * McNemar's test in its exact form (McNemar 1947, Psychometrika 12, 153-157; the two-sided binomial test of the pairs that
 * differ): how likely so uneven a split is, or one more uneven, were better and worse as likely as one another.
 */
export function mcnemar(better: number, worse: number): number {
  const all = better + worse
  const fewer = Math.min(better, worse)
  let log = -all * Math.LN2
  let tail = 0
  for (let k = 0; k <= fewer; k += 1) {
    tail += Math.exp(log)
    log += Math.log((all - k) / (k + 1))
  }
  return Math.min(1, 2 * tail)
}

/** Holm's step-down correction (Holm 1979, Scand. J. Statist. 6, 65-70) of tests that are looked at together, in their order. */
export function holm(values: readonly number[]): readonly number[] {
  const order = values.map((value, at) => ({ value, at })).toSorted((a, b) => a.value - b.value)
  const corrected = new Array<number>(values.length).fill(1)
  let most = 0
  for (const [rank, { value, at }] of order.entries()) {
    most = Math.max(most, Math.min(1, value * (values.length - rank)))
    corrected[at] = most
  }
  return corrected
}

const ROUNDS = 20_000
/** Sums of the same numbers in another order may differ by so much. */
const ROUNDING = 1e-12

/**
 * The paired randomisation test, two-sided (Smucker, Allan and Carterette 2007, CIKM, 623-632): how likely a mean difference
 * as large as this one is where there is none, each pair's difference with its sign drawn anew, from a fixed seed.
 */
export function pairedRandomisation(ours: readonly number[], theirs: readonly number[]): number {
  const differences = ours.map((value, at) => value - (theirs[at] ?? 0)).filter((difference) => difference !== 0)
  const seen = Math.abs(differences.reduce((sum, difference) => sum + difference, 0))
  const random = randomNumbers(BOOTSTRAP.seed)
  let asLarge = 0
  for (let round = 0; round < ROUNDS; round += 1) {
    let sum = 0
    for (const difference of differences) sum += random() < 0.5 ? difference : -difference
    if (Math.abs(sum) >= seen - ROUNDING) asLarge += 1
  }
  return (asLarge + 1) / (ROUNDS + 1)
}
