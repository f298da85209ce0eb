import type { DatabaseSync } from 'node:sqlite'
import type { IndexManifests } from '../../../shared/graph/graph-store.ts'
import { transaction } from '../database.ts'
import { query } from '../run-store/query.ts'

/** Which index readers open. */
export function indexManifestsOn(db: DatabaseSync): IndexManifests {
  const manifest = query<{ readonly version: number; readonly ref: string; readonly as_of: string }>(
    db,
    'SELECT version, ref, as_of FROM graph_manifests WHERE tenant = ?',
  )
  const move = db.prepare('INSERT OR REPLACE INTO graph_manifests (tenant, version, ref, as_of) VALUES (?, ?, ?, ?)')
  return {
    manifest: async (tenant) => {
      const row = manifest.one(tenant)
      return row === undefined ? undefined : { ...row }
    },
    moveManifest: async (tenant, was, { ref, as_of }) =>
      transaction(db, () => {
        if ((manifest.one(tenant)?.version ?? 0) !== was) return false
        move.run(tenant, was + 1, ref, as_of)
        return true
      }),
  }
}
