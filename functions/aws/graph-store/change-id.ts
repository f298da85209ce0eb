import { sha256 } from '../../../shared/canonical.ts'

/** Crockford's base 32. */
const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** A ULID: 10 digits of the time (ms since 1970), so that text order is time order, and 16 of what the parts make. */
export function changeId(now: number, ...random: readonly string[]): string {
  const time = Array.from({ length: 10 }, (_, i) => DIGITS[Math.floor(now / 32 ** (9 - i)) % 32])
  const rest = [...Buffer.from(sha256(random.join('')), 'hex').subarray(0, 16)].map((byte) => DIGITS[byte % 32])
  return [...time, ...rest].join('')
}
