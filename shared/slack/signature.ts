import { createHmac, timingSafeEqual } from 'node:crypto'

/** A request as it came: headers as sent (undefined = absent), the body's raw bytes. */
export interface SignedRequest {
  readonly timestamp: string | undefined
  readonly signature: string | undefined
  readonly body: Uint8Array
}

/** Why a request is not Slack's: for logs and `sluice doctor` only, a caller sees one answer for all of them. */
export type SignatureVerdict =
  | { readonly ok: true }
  | { readonly ok: false; readonly reason: 'too_large' | 'bad_timestamp' | 'bad_signature' | 'wrong_signature' }
  /** Signed by Slack, but not now: a replay, or one of the two clocks is wrong by so much. */
  | { readonly ok: false; readonly reason: 'stale' | 'future'; readonly skew_sec: number }

/** Slack's clicks and modals carry the message they belong to: some ten KB. */
const MAX_SIGNED_BYTES = 262_144

const MAX_SKEW_SEC = 300

/**
 * Slack's v0 signature over the raw bytes (docs.slack.dev, "Verifying requests from Slack"): size, form of both headers,
 * then a constant-time compare with each secret. The time is judged last, so that a wrong clock and a wrong secret can be
 * told apart; unlike Slack's own middleware nothing from the future is taken.
 */
export function verifySignature(request: SignedRequest, secrets: readonly string[], now: number): SignatureVerdict {
  const { timestamp = '', signature = '', body } = request
  const problem = signatureFormProblem(request)
  if (problem !== undefined) return problem
  const given = Buffer.from(signature)
  // Every secret is compared, whichever fits; an empty one is no secret.
  const known = secrets.filter((secret) => secret !== '')
  const fits = known.map((secret) => timingSafeEqual(given, Buffer.from(signBody(secret, timestamp, body))))
  if (!fits.includes(true)) return { ok: false, reason: 'wrong_signature' }
  const skew_sec = Number(timestamp) - Math.floor(now / 1_000)
  if (skew_sec < -MAX_SKEW_SEC) return { ok: false, reason: 'stale', skew_sec }
  return skew_sec > MAX_SKEW_SEC ? { ok: false, reason: 'future', skew_sec } : { ok: true }
}

/** What can be told without knowing any secret: who sends anything else costs nothing more. */
export function signatureFormProblem({
  timestamp = '',
  signature = '',
  body,
}: SignedRequest): SignatureVerdict | undefined {
  if (body.byteLength > MAX_SIGNED_BYTES) return { ok: false, reason: 'too_large' }
  if (!/^[0-9]{10}$/.test(timestamp)) return { ok: false, reason: 'bad_timestamp' }
  return /^v0=[0-9a-f]{64}$/.test(signature) ? undefined : { ok: false, reason: 'bad_signature' }
}

/** What Slack puts into X-Slack-Signature for these bytes at that second. */
export function signBody(secret: string, timestamp: string, body: Uint8Array): string {
  return `v0=${createHmac('sha256', secret).update(`v0:${timestamp}:`).update(body).digest('hex')}`
}
