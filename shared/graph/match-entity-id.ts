/** Whether the id lies under the prefix, on a segment boundary: `a.b` is no prefix of `a.bc.d.e.f.g`. */
export function hasPrefix(entityId: string, prefix: string): boolean {
  return entityId === prefix || entityId.startsWith(`${prefix}.`)
}

/**
 * Whether the id ends in the part, on a segment boundary. Any suffix would be too much: `1` would match
 * `drone.11`.
 */
export function hasSuffix(entityId: string, part: string): boolean {
  return part !== '' && (entityId === part || entityId.endsWith(`.${part}`))
}

/** Whether each segment is the pattern's, `*` standing for any one. Both must be what refuseEntityId* accepts. */
export function matchesPattern(entityId: string, pattern: string): boolean {
  const segments = entityId.split('.')
  const wanted = pattern.split('.')
  return wanted.length === segments.length && wanted.every((part, at) => part === '*' || part === segments[at])
}
