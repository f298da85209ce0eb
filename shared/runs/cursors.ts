import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto'
import { Fault } from '../errors.ts'

/** The lists there are cursors of; a cursor of one is none of another. */
type ListName = 'runs' | 'open' | 'closed' | 'dead'

/** What the last entry of a page is sorted by. */
export type Position = readonly string[]

export interface Cursors {
  seal(tenant: string, position: Position, list: ListName): string
  /** Fault InvalidInput bad_cursor for anything `seal` did not make for this tenant and list. */
  open(tenant: string, cursor: string, list: ListName): Position
}

const IV_BYTES = 12
const TAG_BYTES = 16

/**
 * Page cursors that show no key and cannot be forged: AES-256-GCM with tenant and list as
 * associated data. The nonce is a MAC of all that, so a position has one cursor, and no two contents share a nonce.
 */
export function createCursors(key: Uint8Array): Cursors {
  return {
    seal(tenant, position, list) {
      const text = JSON.stringify(position)
      const bound = boundTo(tenant, list)
      const iv = createHmac('sha256', key).update(`${bound}\n${text}`).digest().subarray(0, IV_BYTES)
      const cipher = createCipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(bound))
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url')
    },
    open(tenant, cursor, list) {
      try {
        return unseal(key, boundTo(tenant, list), cursor)
      } catch (cause) {
        const message = `Cannot list ${LISTED[list]}: the cursor is not one this place gave out. Take next_cursor of the page before.`
        throw new Fault('InvalidInput', 'bad_cursor', message, { cause })
      }
    },
  }
}

const LISTED = { runs: 'runs', open: 'approvals', closed: 'approvals', dead: 'dead webhooks' } as const

/** As the cursors of runs always were; no tenant has a line end. */
function boundTo(tenant: string, list: ListName): string {
  return list === 'runs' ? tenant : `${tenant}\n${list}`
}

function unseal(key: Uint8Array, bound: string, cursor: string): Position {
  const bytes = Buffer.from(cursor, 'base64url')
  // Decoding forgives stray characters; a cursor has one spelling.
  if (bytes.toString('base64url') !== cursor) throw new TypeError('not base64url')
  const iv = bytes.subarray(0, IV_BYTES)
  const tag = bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES)
  const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES })
  decipher.setAAD(Buffer.from(bound)).setAuthTag(tag)
  const text = Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()])
  return JSON.parse(text.toString('utf8'))
}
