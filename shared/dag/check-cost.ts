import type { Json } from '../canonical.ts'

/** How many things in a gate's parameters are compiled to be checked: patterns, and references of JSON Schemas. */
export function compiledParts(params: Json): number {
  const open: Json[] = [params]
  let parts = 0
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== 'object' || next === null) continue
    for (const member of Object.values(next)) open.push(member)
    for (const [key, member] of Object.entries(next)) parts += partsOf(key, member)
  }
  return parts
}

function partsOf(key: string, member: Json): number {
  if (key === 'patternProperties') return Object.keys(member ?? {}).length
  return typeof member === 'string' && (key === 'pattern' || key === '$ref') ? 1 : 0
}
