import type { SearchDescription } from './describe-search.ts'

/** Whether an entity passes the filters of a search: its type (of its own, else its id's), and the id's domain. */
export function fitsSearch(
  { entity_id, type }: { readonly entity_id: string; readonly type?: string | undefined },
  search: Pick<SearchDescription, 'type' | 'domain'>,
): boolean {
  const [, , domain, , typeSegment] = entity_id.split('.')
  const isType = search.type === undefined || (type ?? typeSegment)?.toLowerCase() === search.type
  return isType && (search.domain === undefined || domain?.toLowerCase() === search.domain.toLowerCase())
}
