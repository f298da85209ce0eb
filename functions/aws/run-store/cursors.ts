import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto'
import { Fault } from '../../../shared/errors.ts'

/** The last run of a page. */
export interface Position {
  readonly created_at: string
  readonly run_id: string
}

export interface Cursors {
  seal(tenant: string, position: Position): string
  /** Fault InvalidInput bad_cursor for anything `seal` did not make for this tenant. */
  open(tenant: string, cursor: string): Position
}

const IV_BYTES = 12
const TAG_BYTES = 16

/**
 * Page cursors that show no key and cannot be forged (spec security, "API"): AES-256-GCM with the tenant as associated
 * data. The nonce is a MAC of the content, so a position has one cursor, and no two contents share a nonce.
 */
export function createCursors(key: Uint8Array): Cursors {
  return {
    seal(tenant, { created_at, run_id }) {
      const text = JSON.stringify([created_at, run_id])
      const iv = createHmac('sha256', key).update(`${tenant}\n${text}`).digest().subarray(0, IV_BYTES)
      const cipher = createCipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(tenant))
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url')
    },
    open(tenant, cursor) {
      try {
        return unseal(key, tenant, cursor)
      } catch (cause) {
        const message =
          'Cannot list runs: the cursor is not one this place gave out. Take next_cursor of the page before.'
        throw new Fault('InvalidInput', 'bad_cursor', message, { cause })
      }
    },
  }
}

function unseal(key: Uint8Array, tenant: string, cursor: string): Position {
  const bytes = Buffer.from(cursor, 'base64url')
  // Decoding forgives stray characters; a cursor has one spelling.
  if (bytes.toString('base64url') !== cursor) throw new TypeError('not base64url')
  const iv = bytes.subarray(0, IV_BYTES)
  const tag = bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES)
  const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES })
  decipher.setAAD(Buffer.from(tenant)).setAuthTag(tag)
  const text = Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()])
  const [created_at, run_id] = JSON.parse(text.toString('utf8'))
  return { created_at, run_id }
}
