import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Hmac } from './trigger.ts'

/** A request as it came: headers by small names, the body's raw bytes. */
interface Message {
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** Why a message is not believed: for the log alone, its sender reads one answer for all of them. */
type Verdict =
  /** What the sender signed: nothing of it was changed on the way. */
  | { readonly ok: true; readonly signed: Uint8Array }
  | { readonly ok: false; readonly reason: 'no_signature' | 'bad_timestamp' | 'wrong_signature' }
  /** Signed, but not now: sent again by somebody, or one of the two clocks is wrong by so much. */
  | { readonly ok: false; readonly reason: 'stale' | 'future'; readonly skew_sec: number }

/**
 * Judges a message by the keyed hash in its header, over its raw bytes, in constant time, with each secret (two while one is
 * rotated). The time is judged last, so that a wrong clock and a wrong secret can be told apart.
 */
export function verifyMessage(
  { headers, body }: Message,
  hmac: Hmac,
  secrets: readonly string[],
  now: number,
): Verdict {
  const given = headerOf(headers, hmac.header)?.trim()
  if (given === undefined || !given.startsWith(hmac.prefix)) return { ok: false, reason: 'no_signature' }
  const time = hmac.timestamp === undefined ? undefined : (headerOf(headers, hmac.timestamp.header)?.trim() ?? '')
  if (time !== undefined && !/^[0-9]{10}$/.test(time)) return { ok: false, reason: 'bad_timestamp' }
  const signed = time === undefined ? body : Buffer.concat([Buffer.from(`${time}.`), body])
  const hash = hashOf(given.slice(hmac.prefix.length), hmac)
  // Every secret is compared, whichever fits; an empty one is no secret.
  const fits = secrets.filter((secret) => secret !== '').map((secret) => isEqual(hash, digest(hmac, secret, signed)))
  if (!fits.includes(true)) return { ok: false, reason: 'wrong_signature' }
  if (time === undefined || hmac.timestamp === undefined) return { ok: true, signed }
  const skew_sec = Number(time) - Math.floor(now / 1_000)
  if (Math.abs(skew_sec) <= hmac.timestamp.window_sec) return { ok: true, signed }
  return { ok: false, reason: skew_sec < 0 ? 'stale' : 'future', skew_sec }
}

function headerOf(headers: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.hasOwn(headers, name) ? headers[name] : undefined
}

/** Empty where a text is no hash. */
function hashOf(text: string, { encoding }: Hmac): Uint8Array {
  const isForm = encoding === 'hex' ? /^[0-9a-fA-F]+$/.test(text) : /^[A-Za-z0-9+/]+={0,2}$/.test(text)
  return isForm ? Buffer.from(text, encoding) : new Uint8Array()
}

function digest({ algorithm }: Pick<Hmac, 'algorithm'>, secret: string, signed: Uint8Array): Uint8Array {
  return createHmac(algorithm, secret).update(signed).digest()
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.byteLength === b.byteLength && timingSafeEqual(a, b)
}

/** What a sender puts into the header for these bytes, at that second where the time is signed. */
export function signMessage(
  hmac: Pick<Hmac, 'algorithm' | 'encoding' | 'prefix'>,
  secret: string,
  body: Uint8Array,
  time?: string,
): string {
  const signed = time === undefined ? body : Buffer.concat([Buffer.from(`${time}.`), body])
  return `${hmac.prefix}${Buffer.from(digest(hmac, secret, signed)).toString(hmac.encoding)}`
}
