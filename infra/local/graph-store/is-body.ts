import type { DatabaseSync } from 'node:sqlite'

/**
 * Whether an entity names the object of this hash as its body. The entities are read when that is asked first. One that is
 * damaged may name any: every object is a body then.
 */
export function isBody(db: DatabaseSync): (sha256: string) => boolean {
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
