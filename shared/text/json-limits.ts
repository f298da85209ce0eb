/** Levels a value may nest; deeper ones overflow the stack of whoever walks them. */
export const MAX_DEPTH = 64
/** Values of a text that are parsed on the event loop: 1 MiB of the densest text has no more. */
const MAX_VALUES = 550_000

/**
 * What a parsed value has that canonical JSON has not, which every hash here is made of: a number too large for a
 * double (the parser answers Infinity for 1e999), half of a character, more than 64 levels. Undefined = nothing.
 */
export function jsonProblem(value: unknown): { readonly code: string; readonly text: string } | undefined {
  const open: { readonly value: unknown; readonly depth: number }[] = [{ value, depth: 0 }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value: here, depth } = next
    const problem = leafProblem(here)
    if (problem !== undefined) return problem
    if (typeof here !== 'object' || here === null) continue
    if (depth === MAX_DEPTH) return { code: 'json_too_deep', text: `it nests deeper than ${MAX_DEPTH} levels` }
    if (!Object.keys(here).every((key) => key.isWellFormed())) return HALF
    for (const member of Object.values(here)) open.push({ value: member, depth: depth + 1 })
  }
  return undefined
}

/** Whether more than 64 brackets of a text are open at once; those in strings do not count. One pass. */
export function nestsTooDeep(text: string): boolean {
  return measure(text, MAX_DEPTH).depth > MAX_DEPTH
}

/**
 * Why a text is not parsed here, before anything parses it: it nests too deep, or it holds so many values that parsing it
 * would hold up everybody else. Undefined = it may be parsed. One pass; the text need not be JSON. `around`: the values are
 * members of so many levels more.
 */
export function jsonTextProblem(
  text: string,
  around = 0,
): { readonly code: string; readonly text: string } | undefined {
  const most = MAX_DEPTH + around
  const { depth, values } = measure(text, most)
  if (depth > most) return { code: 'json_too_deep', text: `it nests deeper than ${MAX_DEPTH} levels` }
  if (values <= MAX_VALUES) return undefined
  return { code: 'json_too_dense', text: `it holds more than ${MAX_VALUES} values` }
}

/** How deep a text nests and how many values it holds, as far as either is over. */
function measure(text: string, most: number): { readonly depth: number; readonly values: number } {
  let [open, depth, values] = [0, 0, 1]
  for (let at = 0; at < text.length && depth <= most; at += 1) {
    const char = text.charCodeAt(at)
    if (char === QUOTE) at = endOfJsonString(text, at)
    else if (char === COMMA) values += 1
    else {
      const step = stepOf(char)
      open += step
      if (step > 0) values += 1
      depth = Math.max(depth, open)
    }
  }
  return { depth, values }
}

function stepOf(char: number): -1 | 0 | 1 {
  if (char === OPEN_LIST || char === OPEN_OBJECT) return 1
  return char === CLOSE_LIST || char === CLOSE_OBJECT ? -1 : 0
}

const QUOTE = 34
const COMMA = 44
const BACKSLASH = 92
const OPEN_LIST = 91
const CLOSE_LIST = 93
const OPEN_OBJECT = 123
const CLOSE_OBJECT = 125

/** The quote that closes the one at `start`; the text's length when none does. */
function endOfJsonString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (end >= 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end < 0 ? text.length : end
}

/** An odd number of backslashes stands before it. */
function isEscaped(text: string, at: number): boolean {
  let before = at
  while (text.charCodeAt(before - 1) === BACKSLASH) before -= 1
  return (at - before) % 2 === 1
}

const HALF = {
  code: 'half_character',
  text: 'a text in it has half of a character (a lone surrogate, \\ud800 to \\udfff)',
}

function leafProblem(value: unknown) {
  if (typeof value === 'string') return value.isWellFormed() ? undefined : HALF
  if (typeof value !== 'number' || Number.isFinite(value)) return undefined
  return { code: 'number_too_large', text: 'a number in it is larger than 1.8e308, or is not a number at all' }
}
