/** Levels a value may nest (spec reliability, "Limits"); deeper ones overflow the stack of whoever walks them. */
const MAX_DEPTH = 64

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

const HALF = {
  code: 'half_character',
  text: 'a text in it has half of a character (a lone surrogate, \\ud800 to \\udfff)',
}

function leafProblem(value: unknown) {
  if (typeof value === 'string') return value.isWellFormed() ? undefined : HALF
  if (typeof value !== 'number' || Number.isFinite(value)) return undefined
  return { code: 'number_too_large', text: 'a number in it is larger than 1.8e308, or is not a number at all' }
}
