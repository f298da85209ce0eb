import type { Json } from '../canonical.ts'

/** Bytes of text the safety gates read in one port: all their patterns together take about 200 ms. */
export const MAX_SAFETY_BYTES = 1_048_576
/** Values looked at, so that a list of a million empty lists is refused too. */
const MAX_VALUES = 100_000

/**
 * Every text, number and key of a value in document order; a text or number below a key stands as `key: value`. A text
 * is itself. Without recursion, so no depth breaks it; undefined = more than `most` bytes or 100,000 values.
 */
export function textsIn(value: Json | undefined, most = MAX_SAFETY_BYTES): readonly string[] | undefined {
  const texts: string[] = []
  const open: { readonly key: string; readonly value: Json | undefined }[] = [{ key: '', value }]
  let left = most
  for (let seen = 0; open.length > 0; seen += 1) {
    const next = open.pop()
    if (next === undefined || seen > MAX_VALUES) return undefined
    const text = ownText(next.key, next.value)
    // Cheap first: the bytes of a huge text are not counted.
    if (text.length > left) return undefined
    left -= Buffer.byteLength(text)
    if (left < 0) return undefined
    if (text !== '') texts.push(text)
    for (const member of membersOf(next.value)) open.push(member)
  }
  return texts
}

function ownText(key: string, value: Json | undefined): string {
  const own = typeof value === 'string' || typeof value === 'number' ? String(value) : ''
  return key === '' ? own : `${key}: ${own}`
}

/** Last first: they are taken from the end. */
function membersOf(value: Json | undefined): { readonly key: string; readonly value: Json | undefined }[] {
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value))
    return value
      .slice(0, MAX_VALUES + 1)
      .map((item) => ({ key: '', value: item }))
      .reverse()
  return Object.entries(value)
    .map(([key, member]) => ({ key, value: member }))
    .reverse()
}
