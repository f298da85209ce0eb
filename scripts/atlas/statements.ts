import type { Triple } from '../../shared/graph/triple.ts'

interface Said {
  readonly source: string
  readonly timestamp: string
}

/** What an entity states, a row a predicate: objects that are absent say nothing. */
export function statements(
  subject: string,
  { source, timestamp }: Said,
  rows: Readonly<Record<string, readonly Triple['object'][]>>,
): Triple[] {
  return Object.entries(rows).flatMap(([predicate, objects]) =>
    objects.map((object) => ({
      subject,
      predicate,
      object,
      source,
      timestamp,
      confidence: 1,
      rule_opaque: false,
    })),
  )
}
