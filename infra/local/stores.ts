import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { Clock, World } from '../../shared/world.ts'
import { openObjects } from './folder-objects.ts'
import { openGraphStore } from './graph-store/open-graph-store.ts'
import { openRunStore } from './run-store/open-run-store.ts'
import { openLocalIndex } from './search-index.ts'
import { openTokens } from './tokens.ts'
import { openUploads } from './uploads.ts'
import { createWaker } from './waker.ts'

interface StoreParts {
  /** Holds `objects/` and the search index; runs and graph are in `db`. */
  readonly folder: string
  readonly db: DatabaseSync
  readonly clock: Clock
}

interface Stores
  extends Pick<World, 'runs' | 'waker' | 'objects' | 'uploads' | 'graph' | 'search' | 'indexing' | 'tokens'> {
  /** `db` stays open. */
  close(): void
}

/** What the local place remembers. */
export function openStores({ folder, db, clock }: StoreParts): Stores {
  const objects = openObjects(join(folder, 'objects'))
  const graph = openGraphStore(db, clock)
  const { index: search, indexing, close } = openLocalIndex(folder, { graph, objects, clock })
  return {
    ...createWaker(openRunStore(db), clock),
    objects,
    uploads: openUploads(clock),
    tokens: openTokens(db, clock),
    graph,
    search,
    indexing,
    close,
  }
}
