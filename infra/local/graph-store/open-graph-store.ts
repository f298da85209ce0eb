import type { DatabaseSync } from 'node:sqlite'
import type { GraphStore } from '../../../shared/graph/graph-store.ts'
import type { Clock } from '../../../shared/world.ts'
import { transaction } from '../transaction.ts'
import { changesOf } from './changes.ts'
import { entitiesOf } from './entities.ts'
import { neighboursOf } from './neighbours.ts'
import { GRAPH_SCHEMA } from './schema.ts'
import { writesOf } from './writes.ts'

/** The graph store of the local place, in an open database; makes its tables when they are not there. */
export function openGraphStore(db: DatabaseSync, clock: Pick<Clock, 'now'>): GraphStore {
  transaction(db, () => db.exec(GRAPH_SCHEMA))
  return { ...writesOf(db, clock), ...entitiesOf(db), ...neighboursOf(db), ...changesOf(db) }
}
