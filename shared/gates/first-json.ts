import type { Json } from '../canonical.ts'

/** Places where a value may begin that are tried: each costs a walk to its end. */
const MAX_STARTS = 30

/** The first JSON object or list inside a text; undefined = none among the first 30 opening brackets. */
export function firstJson(text: string): Json | undefined {
  let from = 0
  for (let tried = 0; tried < MAX_STARTS; tried += 1) {
    const start = text.slice(from).search(/[{[]/) + from
    if (start < from) return undefined
    const end = endOf(text, start)
    const value = end === undefined ? undefined : parsed(text.slice(start, end))
    if (value !== undefined) return value
    from = start + 1
  }
  return undefined
}

/** Behind the bracket that closes the one at `start`; brackets in JSON strings do not count. */
function endOf(text: string, start: number): number | undefined {
  const mark = /"(?:[^"\\]|\\.)*"|[{}[\]]/gs
  mark.lastIndex = start
  let depth = 0
  for (let found = mark.exec(text); found !== null; found = mark.exec(text)) {
    if (found[0] === '{' || found[0] === '[') depth += 1
    else if (found[0] === '}' || found[0] === ']') depth -= 1
    if (depth === 0) return mark.lastIndex
  }
  return undefined
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}
