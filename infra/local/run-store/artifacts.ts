import type { DatabaseSync } from 'node:sqlite'
import type { RunStore } from '../../../shared/runs/run-store.ts'
import { commitTogether } from '../transaction.ts'
import { query, runNumbers } from './query.ts'
import { requireRun } from './require-run.ts'

/** F#: the run's artifacts, one a name; a later one of the same name takes its place. */
export function artifactsOf(db: DatabaseSync): Pick<RunStore, 'putArtifact' | 'artifacts'> {
  const numberOf = runNumbers(db)
  const put = db.prepare(
    'INSERT INTO artifacts (run, name, body) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET body = excluded.body',
  )
  const all = query<{ readonly body: string }>(db, 'SELECT body FROM artifacts WHERE run = ? ORDER BY name')
  return {
    putArtifact: (key, item) =>
      commitTogether(db, () => {
        put.run(requireRun(numberOf(key), key), item.name, JSON.stringify(item))
      }),
    artifacts: async (key) => {
      const run = numberOf(key)
      return run === undefined ? [] : all.all(run).map(({ body }) => JSON.parse(body))
    },
  }
}
