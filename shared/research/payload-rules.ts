import { type PayloadError, payloadError } from './payload-error.ts'

/** Text of nothing but white space (U+0085 is white space to everybody but JavaScript). */
export function refuseBlank(path: string, text: string): readonly PayloadError[] {
  return /^[\s\u0085]*$/.test(text) ? [payloadError('field_blank', path, 'is blank: it needs a text')] : []
}

/** Numbers from `least` to `most`; absent is allowed. */
export function refuseRange(
  path: string,
  number: number | undefined,
  { least = 0, most = Number.POSITIVE_INFINITY }: { readonly least?: number; readonly most?: number } = {},
): readonly PayloadError[] {
  if (number === undefined || (number >= least && number <= most)) return []
  const wanted = most === Number.POSITIVE_INFINITY ? `at least ${least}` : `from ${least} to ${most}`
  return [payloadError('field_range', path, `is ${number}, wanted is ${wanted}`)]
}

/** A word that is none of a closed list. */
export function refuseOther(path: string, word: string, allowed: readonly string[]): readonly PayloadError[] {
  if (allowed.includes(word)) return []
  const seen = JSON.stringify(word.slice(0, 60))
  return [payloadError('field_value', path, `is ${seen}, allowed are ${allowed.map((one) => `"${one}"`).join(', ')}`)]
}
