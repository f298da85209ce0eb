import { hash } from 'node:crypto'
import canonicalize from 'canonicalize'

/** A JSON value: what travels between blocks and what is hashed. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/** RFC 8785 text of a JSON value: keys sorted, one spelling per number. `undefined` members are left out. */
export function canonicalJson(value: unknown): string {
  const text = canonicalize(value)
  if (text === undefined) throw new TypeError('canonicalJson() needs a JSON value, got undefined')
  return text
}

/** Lower-case hex sha256 of text (UTF-8) or bytes. */
export function sha256(data: string | Uint8Array): string {
  return hash('sha256', data, 'hex')
}

/** The lowest bits of some bytes as so many characters of Crockford's base 32 in lower case, lowest first. */
export function base32(bytes: Uint8Array, chars: number): string {
  let bits = 0n
  for (const byte of bytes) bits = (bits << 8n) | BigInt(byte)
  let text = ''
  for (let i = 0; i < chars; i += 1) {
    text += CROCKFORD[Number(bits & 31n)] ?? ''
    bits >>= 5n
  }
  return text
}

const CROCKFORD = '0123456789abcdefghjkmnpqrstvwxyz'
