import type { DatabaseSync } from 'node:sqlite'
import type { ChangeLog, IndexManifests } from '../../../shared/graph/graph-store.ts'
import { transaction } from '../database.ts'
import { query } from '../run-store/query.ts'

interface ChangeRow {
  readonly id: number
  readonly at: string
  readonly entity_ids: string
}

/** An entry is written with what it names, so every entry has ended. */
export function changeLogOn(db: DatabaseSync): ChangeLog {
  const page = query<ChangeRow>(
    db,
    'SELECT id, at, entity_ids FROM graph_changes WHERE tenant = ? AND id > ? ORDER BY id LIMIT ?',
  )
  const drop = db.prepare('DELETE FROM graph_changes WHERE tenant = ? AND id = ?')
  return {
    changes: async (tenant, limit, after = '0') =>
      page.all(tenant, Number(after), limit).map(({ id, at, entity_ids }) => ({
        id: String(id).padStart(16, '0'),
        at,
        entity_ids: JSON.parse(entity_ids),
        ended: true,
      })),
    dropChanges: async (tenant, changes) =>
      transaction(db, () => {
        for (const { id } of changes) drop.run(tenant, Number(id))
      }),
  }
}

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
