import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import { laneKey } from '../../../shared/runs/lane-key.ts'
import type { BlockProjection } from '../../../shared/runs/run-items.ts'
import type { RunStore } from '../../../shared/runs/run-store.ts'
import { commitTogether } from '../transaction.ts'
import { query, runNumbers } from './query.ts'
import { requireRun } from './require-run.ts'

interface Row {
  readonly lease_until: string | null
  readonly body: string
}

/** B#: the newest state of each block and of each item of a foreach block, and the lease of its attempt. */
export function projectionsOf(
  db: DatabaseSync,
): Pick<RunStore, 'putProjection' | 'projections' | 'itemProjections' | 'renewLease'> {
  const numberOf = runNumbers(db)
  const write = projectionWriter(db)
  const renew = db.prepare(
    "UPDATE lanes SET lease_until = ? WHERE run = ? AND lane = ? AND holder = ? AND state = 'running'",
  )
  const all = query<Row>(
    db,
    "SELECT lease_until, body FROM lanes WHERE run = ? AND body IS NOT NULL AND instr(lane, '.') = 0 ORDER BY length(lane), lane",
  )
  const some = query<Row>(
    db,
    `SELECT p.lease_until, p.body FROM json_each(?2) wanted CROSS JOIN lanes p ON p.run = ?1 AND p.lane = wanted.value
     WHERE p.body IS NOT NULL GROUP BY p.lane ORDER BY length(p.lane), p.lane`,
  )
  // '/' is the character after '.'; a shorter number is a smaller one.
  const items = query<Row>(
    db,
    `SELECT lease_until, body FROM lanes WHERE run = ?1 AND lane > ?2 || '.' AND lane < ?2 || '/' AND body IS NOT NULL
     ORDER BY length(lane), lane`,
  )
  return {
    putProjection: (key, projection) =>
      commitTogether(db, () => {
        write(requireRun(numberOf(key), key), projection)
      }),
    projections: async (key, blocks) => {
      const run = numberOf(key)
      if (run === undefined) return []
      const rows = blocks === undefined ? all.all(run) : some.all(run, JSON.stringify(blocks.map(String)))
      return rows.map(projectionOf)
    },
    itemProjections: async (key, block, only) => {
      const run = numberOf(key)
      if (run === undefined) return []
      const lanes = only?.map((item) => laneKey({ block, item }))
      return (lanes === undefined ? items.all(run, String(block)) : some.all(run, JSON.stringify(lanes))).map(
        projectionOf,
      )
    },
    renewLease: (key, owner, holder, lease_until) =>
      commitTogether(db, () => {
        const run = numberOf(key)
        return run !== undefined && renew.run(lease_until, run, laneKey(owner), holder).changes > 0
      }),
  }
}

/** The values of a projection's columns, as `putProjection` and an append write them. */
export function projectionValues(projection: BlockProjection): readonly SQLInputValue[] {
  const { ordinal, state, holder, lease_until } = projection
  return [ordinal, state, holder ?? null, lease_until ?? null, JSON.stringify(projection)]
}

/** Writes B# forward only; the caller holds the transaction. */
export function projectionWriter(db: DatabaseSync): (run: number, projection: BlockProjection) => void {
  const put = db.prepare(
    `INSERT INTO lanes (run, lane, projected, state, holder, lease_until, body) VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET projected = excluded.projected, state = excluded.state, holder = excluded.holder,
       lease_until = excluded.lease_until, body = excluded.body WHERE excluded.projected > coalesce(lanes.projected, -1)`,
  )
  return (run, projection) => {
    put.run(run, laneKey(projection), ...projectionValues(projection))
  }
}

function projectionOf({ lease_until, body }: Row): BlockProjection {
  const projection: BlockProjection = JSON.parse(body)
  return lease_until === null ? projection : { ...projection, lease_until }
}
