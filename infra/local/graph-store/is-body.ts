import type { DatabaseSync } from 'node:sqlite'

/** Whether an entity names the object of this hash as its body. The entities are read when that is asked first. */
export function isBody(db: DatabaseSync): (sha256: string) => boolean {
  let bodies: ReadonlySet<string> | undefined
  return (sha256) => {
    bodies ??= bodiesOf(db)
    return bodies.has(sha256)
  }
}

function bodiesOf(db: DatabaseSync): ReadonlySet<string> {
  const rows = db.prepare("SELECT DISTINCT json_extract(body, '$.objectstore_ref') AS ref FROM graph_entities").all()
  return new Set(rows.flatMap(({ ref }) => (typeof ref === 'string' ? [ref.slice(-64)] : [])))
}
