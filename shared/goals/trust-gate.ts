import { describeValue } from '../text/wording.ts'

/** From here on a score is VERIFIED; nothing below passes. */
const TRUST_THRESHOLD = 80

type TrustBand = 'VERIFIED' | 'PARTIAL' | 'DOUBTFUL' | 'REJECTED'

export interface TrustResult {
  /** The lowest score of all verifiers; null where one gave none that counts. */
  readonly score: number | null
  readonly passed: boolean
  /** For people; null without a score. */
  readonly band: TrustBand | null
  /** One sentence without a full stop. */
  readonly message: string
}

/** Bands from the top, each with its lowest score. */
export const TRUST_BANDS: readonly (readonly [TrustBand, number])[] = [
  ['VERIFIED', TRUST_THRESHOLD],
  ['PARTIAL', 60],
  ['DOUBTFUL', 40],
  ['REJECTED', 0],
]

/**
 * The trust gate over the scores of all verifiers: their minimum passes from 80 on. A verifier without a number from 0
 * to 100 fails it, and so does having no verifier.
 */
export function judgeTrust(scores: readonly unknown[]): TrustResult {
  if (scores.length === 0) return trustFailed('no verifier gave a trust score')
  const wrong = scores.filter((score) => !isScore(score))
  if (wrong.length > 0) return trustFailed(`a trust score is a number from 0 to 100, got ${describeValue(wrong[0])}`)
  // Each was checked just above.
  const score = Math.min(...(scores as readonly number[]))
  const [band] = TRUST_BANDS.find(([, lowest]) => score >= lowest) ?? ['REJECTED']
  const passed = band === 'VERIFIED'
  return { score, passed, band, message: `the trust score is ${score} (${band}), ${TRUST_THRESHOLD} is needed` }
}

function trustFailed(message: string): TrustResult {
  return { score: null, passed: false, band: null, message }
}

function isScore(score: unknown): boolean {
  return typeof score === 'number' && score >= 0 && score <= 100
}
