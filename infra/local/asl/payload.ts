import type { Json } from '../../../shared/canonical.ts'
import { StateError } from './state-error.ts'

/** Quota of Step Functions for any input or output, in bytes of UTF-8 JSON. */
const LIMIT_BYTES = 262_144

/** The value, if its JSON text keeps the quota. Throws States.DataLimitExceeded. */
export function withinLimit(value: Json, what: string): Json {
  measure(JSON.stringify(value), what)
  return value
}

/** What arrives after a trip over the wire: a copy without `undefined`, class instances and shared references. */
export function overTheWire(value: unknown, what: string): Json {
  const text = JSON.stringify(value) ?? 'null'
  measure(text, what)
  return JSON.parse(text)
}

function measure(text: string, what: string): void {
  // A UTF-16 unit takes at most three bytes.
  if (text.length * 3 <= LIMIT_BYTES) return
  const bytes = Buffer.byteLength(text)
  if (bytes <= LIMIT_BYTES) return
  const cause = `The ${what} has ${bytes} bytes, the limit is ${LIMIT_BYTES}. Pass a reference instead of the data.`
  throw new StateError('States.DataLimitExceeded', cause)
}
