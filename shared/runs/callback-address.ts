import { createHmac, timingSafeEqual } from 'node:crypto'
import type { RunKey } from './run-store.ts'

/** Whose callback an address is: one block of one run, in one pass of its bounce module. */
export interface CallbackPlace extends RunKey {
  readonly block: number
  readonly epoch: number
}

const MAC_BYTES = 32

/**
 * The last part of a callback's address: what it is of, and a MAC of that under a key of its tenant, so that nobody can
 * guess or change one. The same place has the same address for as long as the key is there.
 */
export function callbackToken(key: Uint8Array, { tenant, run_id, block, epoch }: CallbackPlace): string {
  const place = Buffer.from(JSON.stringify([tenant, run_id, block, epoch]))
  return `${place.toString('base64url')}.${macOf(key, place).toString('base64url')}`
}

/** What an address says it is of; undefined for what was never one. Nothing of it is proven. */
export function readCallbackToken(token: string): CallbackPlace | undefined {
  const [head = '', mac = '', ...more] = token.split('.')
  if (more.length > 0 || token.length > 1_024 || Buffer.from(mac, 'base64url').byteLength !== MAC_BYTES)
    return undefined
  try {
    const [tenant, run_id, block, epoch, ...rest] = JSON.parse(Buffer.from(head, 'base64url').toString('utf8'))
    const isPlace = typeof tenant === 'string' && typeof run_id === 'string' && rest.length === 0
    const isNumbered = [block, epoch].every((number) => Number.isSafeInteger(number) && number >= 0)
    return isPlace && isNumbered ? { tenant, run_id, block, epoch } : undefined
  } catch {
    return undefined
  }
}

/** Whether this place gave the address out: it has one spelling. */
export function isCallbackToken(key: Uint8Array, token: string, place: CallbackPlace): boolean {
  const expected = Buffer.from(callbackToken(key, place))
  const given = Buffer.from(token)
  return given.byteLength === expected.byteLength && timingSafeEqual(given, expected)
}

/** Under a key that is for more than this: the label keeps its uses apart. */
function macOf(key: Uint8Array, place: Buffer): Buffer {
  return createHmac('sha256', key).update('sluice callbacks\n').update(place).digest()
}
