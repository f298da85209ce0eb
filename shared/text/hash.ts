import { hash } from 'node:crypto'

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
