/** One number of a text: as it is written, and what it is compared by. */
interface FoundNumber {
  readonly written: string
  readonly key: string
}

/**
 * The numbers of a text, by one strict grammar: an optional sign, then digits with or without `,` (or a narrow or
 * no-break blank, or an apostrophe) between groups of three, an optional decimal part after `.`, an optional `%`,
 * `percent` or `per cent`, an optional thousand, million, billion or trillion. They are compared by value: `1,200` is
 * `1200.0`, `5 million` is `5,000,000`; a percent is never the plain number. What the grammar does not read (`1.2.3`,
 * `1,5`, `B12`, `10km`, `²`) is compared as it is written, `1st` as 1. Number words are not read. Linear: every
 * character belongs to one piece.
 */
export function numbersIn(text: string): readonly FoundNumber[] {
  return [...text.matchAll(PIECE)].flatMap((match) => readPiece(match))
}

/** A run of letters, digits and single marks between them; then the word after it, which may scale it. */
const PIECE =
  /([-+\u2212]?)\p{Sc}?((?:\.(?=\p{N}))?[\p{L}\p{M}\p{N}\p{Cf}_]+(?:[.,'’\u00a0\u202f]\p{N}[\p{L}\p{M}\p{N}\p{Cf}_]*)*)(\s?%|\s(?:percent|per cent)(?![\p{L}\p{N}])|\s(?:thousand|million|billion|trillion)(?![\p{L}\p{N}]))?/giu
/** `km²` is a unit, not a number. */
const UNIT_POWER = /^\p{L}{1,20}[²³]$/u
const PLAIN = /^(\d+|\d{1,3}(?:[,'’\u00a0\u202f]\d{3})+)(?:\.(\d+))?(?:st|nd|rd|th)?$/i
const SCALES: Readonly<Record<string, number>> = { thousand: 3, million: 6, billion: 9, trillion: 12 }

function readPiece(match: RegExpMatchArray): readonly FoundNumber[] {
  const [whole, sign = '', body = '', tail = ''] = match
  if (!/\p{N}/u.test(body) || UNIT_POWER.test(body)) return []
  const written = whole.trim()
  const plain = PLAIN.exec(body)
  if (plain === null) return [{ written, key: `as written ${body}${/%|per/i.test(tail) ? '%' : ''}` }]
  const [, digits = '', decimals = ''] = plain
  const before = match.input?.[(match.index ?? 0) - 1] ?? ' '
  // A dash between two words or numbers is a range or a hyphen, not a sign.
  const minus = sign !== '' && sign !== '+' && !/[\p{L}\p{N}%)\]]/u.test(before)
  const value = canonical(digits.replace(/\D/g, ''), decimals, SCALES[tail.trim().toLowerCase()] ?? 0)
  return [{ written, key: `${minus && value !== '0' ? '-' : ''}${value}${/%|per/i.test(tail) ? '%' : ''}` }]
}

/** Digits moved `scale` places, without zeros that mean nothing. In text: no number is too long or rounded. */
function canonical(digits: string, decimals: string, scale: number): string {
  const padded = decimals.padEnd(scale, '0')
  const whole = trimStart(digits + padded.slice(0, scale))
  const rest = trimEnd(padded.slice(scale))
  return rest === '' ? whole || '0' : `${whole || '0'}.${rest}`
}

function trimStart(digits: string): string {
  let from = 0
  while (digits[from] === '0') from += 1
  return digits.slice(from)
}

function trimEnd(digits: string): string {
  let to = digits.length
  while (digits[to - 1] === '0') to -= 1
  return digits.slice(0, to)
}

/** JSON's number grammar and nothing around it: no sign `+`, no hex, no `1,000`, no spaces, no `NaN`. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/** Longer texts are no number anybody meant. */
const MAX_CHARACTERS = 400

/** The finite number a text exactly is, as JSON readers see it (IEEE double); else undefined. */
export function strictNumber(text: string): number | undefined {
  if (text.length > MAX_CHARACTERS || !NUMBER.test(text)) return undefined
  const number = Number(text)
  return Number.isFinite(number) ? number : undefined
}
