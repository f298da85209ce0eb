/** The shape of a JSON value in words a person reads: `{run: {run_id: text, tokens: number}, steps: [{..}]}`. */
export function jsonShape(value: unknown, depth = 0): string {
  if (Array.isArray(value)) return value.length === 0 ? '[]' : `[${jsonShape(merged(value), depth)}]`
  if (typeof value !== 'object' || value === null)
    return value === null ? 'null' : (WORDS[typeof value] ?? typeof value)
  const members = Object.entries(value)
  if (members.length === 0) return '{}'
  if (depth >= DEEPEST) return '{..}'
  const indent = '  '.repeat(depth + 1)
  const lines = members.map(([name, member]) => `${indent}${name}: ${jsonShape(member, depth + 1)}`)
  return `{\n${lines.join('\n')}\n${'  '.repeat(depth)}}`
}

const DEEPEST = 3
const WORDS: Readonly<Record<string, string>> = { string: 'text', number: 'number', boolean: 'true or false' }

/** Of several objects one that has every member any of them has. */
function merged(values: readonly unknown[]): unknown {
  const objects = values.filter((value) => typeof value === 'object' && value !== null && !Array.isArray(value))
  return objects.length === values.length ? Object.assign({}, ...objects.toReversed()) : values[0]
}
