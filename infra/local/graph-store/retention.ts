import type { DatabaseSync } from 'node:sqlite'
import { loopEntityId } from '../../../shared/research/loop-entity.ts'
import { transaction } from '../database.ts'
import { query } from '../run-store/query.ts'

/**
 * Whether an entity names the object of this hash as its body. The entities are read when that is asked first. One that is
 * damaged may name any: every object is a body then.
 */
export function entityBodyPredicate(db: DatabaseSync): (sha256: string) => boolean {
  let bodies: ReadonlySet<string> | 'all' | undefined
  return (sha256) => {
    bodies ??= bodiesOf(db)
    return bodies === 'all' || bodies.has(sha256)
  }
}

function bodiesOf(db: DatabaseSync): ReadonlySet<string> | 'all' {
  if (db.prepare('SELECT 1 FROM graph_entities WHERE NOT json_valid(body) LIMIT 1').get() !== undefined) return 'all'
  const rows = db.prepare("SELECT DISTINCT json_extract(body, '$.objectstore_ref') AS ref FROM graph_entities").all()
  return new Set(rows.flatMap(({ ref }) => (typeof ref === 'string' ? [ref.slice(-64)] : [])))
}

/** Removes what chains wrote of themselves whose run is gone; answers how many. They are in no index. */
export function removeRunEntities(db: DatabaseSync): number {
  const tenants = query<{ readonly tenant: string }>(db, 'SELECT DISTINCT tenant FROM graph_entities')
  const loops = query<{ readonly entity_id: string }>(
    db,
    `SELECT entity_id FROM graph_entities WHERE tenant = ?1 AND entity_id > ?2 AND entity_id < ?3
       AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.tenant = ?1 AND r.run_id = substr(entity_id, length(?2) + 1))`,
  )
  const edges = db.prepare(
    'DELETE FROM graph_edges WHERE subject = (SELECT id FROM graph_names WHERE tenant = ? AND name = ?)',
  )
  const entity = db.prepare('DELETE FROM graph_entities WHERE tenant = ? AND entity_id = ?')
  return transaction(db, () => {
    let removed = 0
    for (const { tenant } of tenants.all()) {
      const first = loopEntityId(tenant, '')
      // '/' comes after '.', and no id has it.
      for (const { entity_id } of loops.all(tenant, first, `${first.slice(0, -1)}/`)) {
        edges.run(tenant, entity_id)
        entity.run(tenant, entity_id)
        removed += 1
      }
    }
    return removed
  })
}
