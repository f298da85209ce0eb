import { base32 } from '../base32.ts'

/** What a token is made of; the secret is seen once, by who made it. */
export interface TokenParts {
  readonly id: string
  readonly secret: string
}

/** Of the 80 bits of the id and the 160 of the secret. */
export const TOKEN_BYTES: { readonly id: number; readonly secret: number } = { id: 10, secret: 20 }

const ID_CHARS = 16
const SECRET_CHARS = 32

/** A new token of random bytes, so many as TOKEN_BYTES says. */
export function newToken(id: Uint8Array, secret: Uint8Array): TokenParts & { readonly text: string } {
  const parts = { id: base32(id, ID_CHARS), secret: base32(secret, SECRET_CHARS) }
  return { ...parts, text: `slu_${parts.id}_${parts.secret}` }
}

/** The parts of `slu_<id>_<secret>`; undefined where a text is no such token. */
export function readToken(text: string): TokenParts | undefined {
  const [, id, secret] = TOKEN.exec(text) ?? []
  return id === undefined || secret === undefined ? undefined : { id, secret }
}

const TOKEN = /^slu_([0-9a-hjkmnp-tv-z]{16})_([0-9a-hjkmnp-tv-z]{32})$/
