/**
 * Brings the search index of a tenant up to what was put. Where questions do that themselves (locally), it only spares
 * the first one the wait.
 */
export interface Indexing {
  /** One round; past `until` (ISO) what is left is for the next one. `more`: there is, or somebody else was faster. */
  publish(
    tenant: string,
    until: string,
  ): Promise<{ readonly outcome: 'published' | 'unchanged' | 'lost'; readonly more: boolean }>
  /** Restarts the age of what readers open. */
  keep(tenant: string): Promise<void>
}
