/** A pattern `^(?!a)(?=b)rest`: what must not and what must match at the start of the text, besides the rest. */
export interface LeadingLooks {
  readonly refused: readonly string[]
  readonly wanted: readonly string[]
}

/**
 * Takes look-aheads at the very start of a pattern apart (the usual way to say "does not contain"): each is a search
 * of its own from the start, so a linear engine can do them. undefined = the pattern has none there, or an `|` outside
 * of them would make them one choice of several. Flags stand before it, as `(?i)`; with `m` a start is every line's.
 */
export function leadingLooks(source: string): LeadingLooks | undefined {
  const flags = /^\(\?[is]{1,2}\)/.exec(source)?.[0] ?? ''
  let rest = source.slice(flags.length)
  if (!/^\^\(\?[!=]/.test(rest)) return undefined
  rest = rest.slice(1)
  const refused: string[] = []
  const wanted: string[] = []
  while (/^\(\?[!=]/.test(rest)) {
    const end = groupEnd(rest)
    if (end === undefined) return undefined
    const list = rest[2] === '!' ? refused : wanted
    list.push(`${flags}^(?:${rest.slice(3, end)})`)
    rest = rest.slice(end + 1)
  }
  if (hasChoice(rest)) return undefined
  return { refused, wanted: [...wanted, `${flags}^(?:${rest})`] }
}

/** Where the group that begins the text ends: escapes and classes are passed over. */
function groupEnd(text: string): number | undefined {
  for (const { at, depth, sign } of groups(text)) if (sign === ')' && depth === 0) return at
  return undefined
}

function hasChoice(text: string): boolean {
  for (const { depth, sign } of groups(text)) if (sign === '|' && depth === 0) return true
  return false
}

/** Brackets and choices of a pattern with the depth after them. */
function* groups(text: string) {
  let depth = 0
  for (const { 0: sign, index: at } of text.matchAll(/\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[()|]/gs)) {
    if (sign === '(') depth += 1
    if (sign === ')') depth -= 1
    yield { at, depth, sign }
  }
}
