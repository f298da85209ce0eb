import type { DatabaseSync } from 'node:sqlite'
import { type IndexSource, indexEntities } from './apply-changes.ts'

/** Every entity of the graph: what an index that was lost, or is of another version, is made of. */
export async function indexAll(db: DatabaseSync, source: Omit<IndexSource, 'clock'>): Promise<void> {
  let after: string | undefined
  do {
    const page = await source.graph.list(source.tenant, after)
    await indexEntities(db, source, page.entity_ids)
    after = page.next
  } while (after !== undefined)
}
