/** A number that is another one once a double holds it. */
export interface InexactNumber {
  /** As it was written, shortened. */
  readonly written: string
  readonly becomes: number
}

const DOUBLE_DIGITS = 15

const LITERAL = /^(?<sign>[-+]?)(?<whole>\d*)(?:\.(?<fraction>\d*))?(?:[eE](?<exponent>[-+]?\d+))?$/

const RADIX = /^[-+]?0(?:x[\da-f]+|o[0-7]+|b[01]+)$/i

/**
 * Whether a number keeps what it says as a double. A whole number must: 9007199254740993 would become ..992, an id or an
 * amount nobody gave. Decimals are rounded to the nearest double, as everywhere, but not away to 0 (1e-400). What is
 * larger than any double is told apart (`number_too_large`).
 */
export function inexactNumber(literal: string): InexactNumber | undefined {
  if (literal.length <= DOUBLE_DIGITS && /^[-+]?\d*\.?\d*$/.test(literal)) return undefined
  const becomes = readDouble(literal)
  if (!Number.isFinite(becomes)) return undefined
  const written = literal.length > 40 ? `${literal.slice(0, 40)}..` : literal
  return keeps(literal, becomes) ? undefined : { written, becomes }
}

function readDouble(literal: string): number {
  if (!RADIX.test(literal)) return Number(literal)
  const signed = /^[-+]/.test(literal)
  return (literal.startsWith('-') ? -1 : 1) * Number(signed ? literal.slice(1) : literal)
}

function keeps(literal: string, value: number): boolean {
  if (RADIX.test(literal)) return BigInt(literal.replace(/^[-+]/, '')) === BigInt(Math.abs(value))
  const given = decimal(literal)
  if (given === undefined || given.digits === '') return true
  if (given.power < 0) return value !== 0
  const shortest = decimal(String(value))
  // What a program writes for its double (1.7976931348623157e+308) is read as that double again.
  if (shortest?.digits === given.digits && shortest.power === given.power) return true
  return BigInt(given.digits) * 10n ** BigInt(given.power) === BigInt(Math.abs(value))
}

/** Digits without zeros at their ends, times ten to the power; no digits = zero. */
function decimal(literal: string): { readonly digits: string; readonly power: number } | undefined {
  const { whole = '', fraction = '', exponent = '0' } = LITERAL.exec(literal)?.groups ?? {}
  const all = `${whole}${fraction}`
  if (all === '') return undefined
  let end = all.length
  while (end > 0 && all[end - 1] === '0') end -= 1
  let start = 0
  while (start < end && all[start] === '0') start += 1
  return { digits: all.slice(start, end), power: Number(exponent) - fraction.length + (all.length - end) }
}

/** The numbers of a JSON text that a parser would change; `at` is where they begin. One pass; the text need not be JSON. */
export function inexactNumbers(text: string): readonly (InexactNumber & { readonly at: number })[] {
  const found: (InexactNumber & { readonly at: number })[] = []
  let at = 0
  while (at < text.length) {
    const char = text.charCodeAt(at)
    if (char === QUOTE) {
      at = behindString(text, at)
      continue
    }
    if (!isOfNumber(char)) {
      at += 1
      continue
    }
    const start = at
    while (at < text.length && isOfNumber(text.charCodeAt(at))) at += 1
    const changed = at - start === 1 ? undefined : inexactNumber(text.slice(start, at))
    if (changed !== undefined) found.push({ ...changed, at: start })
  }
  return found
}

const QUOTE = 34

const BACKSLASH = 92

function behindString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const char = text.charCodeAt(at)
    if (char === BACKSLASH) at += 1
    else if (char === QUOTE) return at + 1
  }
  return text.length
}

/** Digits, `+`, `-`, `.`, `e` and `E`. */
function isOfNumber(char: number): boolean {
  return (char >= 48 && char <= 57) || char === 43 || char === 45 || char === 46 || char === 69 || char === 101
}

/** `9007199254740993 would become 9007199254740992: send it as text, "9007199254740993"`. */
export function inexactNumberWords({ written, becomes }: InexactNumber): string {
  return `the number ${written} would become ${becomes}, since a double holds no more digits; give it as text: "${written}"`
}
