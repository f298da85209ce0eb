/** An own member of whatever a server sent; undefined where there is none. */
export function memberOf(value: unknown, key: string | number): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
  // Checked above: an object with this own key.
  return (value as Readonly<Record<string | number, unknown>>)[key]
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
