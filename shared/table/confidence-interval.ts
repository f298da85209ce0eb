import { bisect } from 'simple-statistics'

export type Confidence = 0.9 | 0.95 | 0.99

/** Standard normal quantiles at (1 + confidence) / 2; simple-statistics' probit is exact to three digits only. */
const NORMAL: Readonly<Record<Confidence, number>> = {
  0.9: 1.6448536269514722,
  0.95: 1.959963984540054,
  0.99: 2.5758293035489004,
}

/** Above this the expansion is exact to eight digits, and the finite sum would only be slower. */
const MANY = 200

/**
 * Two-sided Student t quantile: the t with P(|T| <= t) = confidence at `df` >= 1 degrees of freedom (an integer).
 * Exact finite sum and bisection up to 200 degrees (Abramowitz and Stegun 26.7.3-4), above that the expansion around
 * the normal quantile (26.7.5).
 */
export function studentT(confidence: Confidence, df: number): number {
  const z = NORMAL[confidence]
  if (df <= MANY) return bisect((t) => central(t, df) - confidence, 0, 64, 100, 1e-12)
  const first = (z ** 3 + z) / 4
  const second = (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96
  const third = (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / 384
  return z + first / df + second / df ** 2 + third / df ** 3
}

/**
 * Places (from 0) of the order statistics that hold the median with at least `confidence`, whatever the distribution
 * (binomial, exact); undefined when `count` values are too few.
 */
export function medianRanks(confidence: Confidence, count: number): readonly [number, number] | undefined {
  const tail = (1 - confidence) / 2
  let log = -count * Math.LN2
  let below = 0
  let place = -1
  for (let k = 0; k < count / 2; k += 1) {
    below += Math.exp(log)
    if (below > tail) break
    place = k
    log += Math.log((count - k) / (k + 1))
  }
  return place < 0 ? undefined : [place, count - 1 - place]
}

/** Wilson's interval of a share, of which `count` of `all` were seen; within 0 and 1 however few there are. */
export function wilsonInterval(confidence: Confidence, count: number, all: number): { low: number; high: number } {
  const z = NORMAL[confidence]
  const share = count / all
  const centre = (share + z ** 2 / (2 * all)) / (1 + z ** 2 / all)
  const half = (z / (1 + z ** 2 / all)) * Math.sqrt((share * (1 - share)) / all + z ** 2 / (4 * all ** 2))
  return { low: centre - half, high: centre + half }
}

/** P(|T| <= t). */
function central(t: number, df: number): number {
  const angle = Math.atan(t / Math.sqrt(df))
  const cosine = Math.cos(angle)
  const odd = df % 2 === 1
  let term = odd ? cosine : 1
  let sum = df === 1 ? 0 : term
  for (let k = odd ? 3 : 2; k < df; k += 2) {
    term *= (cosine * cosine * (k - 1)) / k
    sum += term
  }
  return odd ? ((angle + Math.sin(angle) * sum) * 2) / Math.PI : Math.sin(angle) * sum
}
