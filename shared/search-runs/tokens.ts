/** One term of a query as it is written; positions are characters from 0. */
export interface Token {
  readonly at: number
  readonly negated: boolean
  /** What stands before the first colon, where one does. */
  readonly field?: { readonly name: string; readonly at: number }
  /** Parts of the value, at their commas. */
  readonly parts: readonly TokenPart[]
}

export interface TokenPart {
  readonly at: number
  readonly text: string
  /** It begins with a quote: no sign in it means anything else. */
  readonly quoted: boolean
}

export type Tokens =
  | { readonly ok: true; readonly tokens: readonly Token[] }
  | { readonly ok: false; readonly at: number; readonly words: string }

const SPACES = /\s*/y
const FIELD = /(-(?=\S))?(?:([A-Za-z_]+):)?/y
/** Of a value a comma ends a part; a text in quotes is one piece, in which \" and \\ are those signs themselves. */
const VALUE_PIECES = /(?:"(?:[^"\\]|\\["\\])*"|[^\s",])*/y
const WORD_PIECES = /(?:"(?:[^"\\]|\\["\\])*"|[^\s"])*/y
const QUOTED = /"((?:[^"\\]|\\["\\])*)"/g

/** Cuts a query at its spaces, colons and commas, none of which counts in quotes. */
export function readTokens(text: string): Tokens {
  const tokens: Token[] = []
  let at = matchAt(SPACES, text, 0)[0].length
  while (at < text.length) {
    const [whole, minus, name] = matchAt(FIELD, text, at)
    const field = name === undefined ? undefined : { name, at: at + (minus?.length ?? 0) }
    const { parts, end } = readParts(text, at + whole.length, field === undefined ? WORD_PIECES : VALUE_PIECES)
    if (text[end] === '"') return { ok: false, at: end, words: 'a quote is opened here and not closed' }
    tokens.push({ at, negated: minus !== undefined, ...(field && { field }), parts })
    at = end + matchAt(SPACES, text, end)[0].length
  }
  return { ok: true, tokens }
}

function readParts(text: string, from: number, pieces: RegExp) {
  const parts: TokenPart[] = []
  let at = from
  for (;;) {
    const [raw] = matchAt(pieces, text, at)
    const read = raw.replace(QUOTED, (_, inner: string) => inner.replace(/\\(["\\])/g, '$1'))
    parts.push({ at, text: read, quoted: raw.startsWith('"') })
    const end = at + raw.length
    if (pieces === WORD_PIECES || text[end] !== ',') return { parts, end }
    at = end + 1
  }
}

/** Each of the patterns matches the empty text too. */
function matchAt(pattern: RegExp, text: string, at: number): readonly [string, ...(string | undefined)[]] {
  pattern.lastIndex = at
  const [whole = '', ...groups] = pattern.exec(text) ?? []
  return [whole, ...groups]
}
