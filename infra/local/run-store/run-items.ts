import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import { laneKey } from '../../../shared/runs/lane.ts'
import type { RunStore } from '../../../shared/runs/run-store.ts'
import type { BlockProjection } from '../../../shared/runs/run-store-items.ts'
import { commitTogether } from '../database.ts'
import { query, requireRunNumber, runNumberLookup } from './query.ts'

interface ProjectionRow {
  readonly lease_until: string | null
  readonly body: string
}

/** B#: the newest state of each block and of each item of a foreach block, and the lease of its attempt. */
export function projectionsOn(
  db: DatabaseSync,
): Pick<RunStore, 'putProjection' | 'projections' | 'itemProjections' | 'renewLease'> {
  const numberOf = runNumberLookup(db)
  const write = projectionWriter(db)
  const renew = db.prepare(
    "UPDATE lanes SET lease_until = ? WHERE run = ? AND lane = ? AND holder = ? AND state = 'running'",
  )
  const all = query<ProjectionRow>(
    db,
    "SELECT lease_until, body FROM lanes WHERE run = ? AND body IS NOT NULL AND instr(lane, '.') = 0 ORDER BY length(lane), lane",
  )
  const some = query<ProjectionRow>(
    db,
    `SELECT p.lease_until, p.body FROM json_each(?2) wanted CROSS JOIN lanes p ON p.run = ?1 AND p.lane = wanted.value
     WHERE p.body IS NOT NULL GROUP BY p.lane ORDER BY length(p.lane), p.lane`,
  )
  // '/' is the character after '.'; a shorter number is a smaller one.
  const items = query<ProjectionRow>(
    db,
    `SELECT lease_until, body FROM lanes WHERE run = ?1 AND lane > ?2 || '.' AND lane < ?2 || '/' AND body IS NOT NULL
     ORDER BY length(lane), lane`,
  )
  return {
    putProjection: (key, projection) =>
      commitTogether(db, () => {
        write(requireRunNumber(numberOf(key), key), projection)
      }),
    projections: async (key, blocks) => {
      const run = numberOf(key)
      if (run === undefined) return []
      const rows = blocks === undefined ? all.all(run) : some.all(run, JSON.stringify(blocks.map(String)))
      return rows.map(readProjection)
    },
    itemProjections: async (key, block, only) => {
      const run = numberOf(key)
      if (run === undefined) return []
      const lanes = only?.map((item) => laneKey({ block, item }))
      return (lanes === undefined ? items.all(run, String(block)) : some.all(run, JSON.stringify(lanes))).map(
        readProjection,
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

function readProjection({ lease_until, body }: ProjectionRow): BlockProjection {
  const projection: BlockProjection = JSON.parse(body)
  return lease_until === null ? projection : { ...projection, lease_until }
}

interface JoinRow {
  readonly done: string
  readonly need: number | null
  readonly tokens: string
}

/** J#: a set of the sources that are done, and who waits for them (docs/architecture.md, "Joins"). */
export function joinsOn(db: DatabaseSync): Pick<RunStore, 'waitJoin' | 'signalJoin'> {
  const numberOf = runNumberLookup(db)
  const count = query<{ readonly done: number }>(db, 'SELECT count(*) AS done FROM join_done WHERE run = ? AND key = ?')
  const wait = db.prepare(
    `INSERT INTO join_waits (run, key, token, need) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET need = excluded.need`,
  )
  const add = db.prepare('INSERT OR IGNORE INTO join_done (run, key, source) VALUES (?, ?, ?)')
  const item = query<JoinRow>(
    db,
    `SELECT max(need) AS need, json_group_array(token ORDER BY token) AS tokens,
       (SELECT json_group_array(source ORDER BY source) FROM join_done WHERE run = ?1 AND key = ?2) AS done
     FROM join_waits WHERE run = ?1 AND key = ?2`,
  )
  return {
    waitJoin: (key, join, { need, token }) =>
      commitTogether(db, () => {
        const run = requireRunNumber(numberOf(key), key)
        if ((count.one(run, join)?.done ?? 0) >= need) return 'done'
        wait.run(run, join, token, need)
        return 'waiting'
      }),
    signalJoin: (key, join, source) =>
      commitTogether(db, () => {
        const run = requireRunNumber(numberOf(key), key)
        add.run(run, join, source)
        const { done = '[]', need = null, tokens = '[]' } = item.one(run, join) ?? {}
        return { done: JSON.parse(done), tokens: JSON.parse(tokens), ...(need === null ? {} : { need }) }
      }),
  }
}

interface ContextRow {
  readonly version: number
  readonly body: string
}

/** CTX: the run's shared context, compare-and-set on its version. */
export function contextOn(db: DatabaseSync): Pick<RunStore, 'context' | 'putContext'> {
  const numberOf = runNumberLookup(db)
  const read = query<ContextRow>(db, 'SELECT version, body FROM contexts WHERE run = ?')
  const swap = db.prepare('UPDATE contexts SET version = ?, body = ? WHERE run = ? AND version = ?')
  return {
    context: async (key) => {
      const run = numberOf(key)
      const row = run === undefined ? undefined : read.one(run)
      return row === undefined ? undefined : { version: row.version, values: JSON.parse(row.body) }
    },
    putContext: (key, { version, values }, if_version) =>
      commitTogether(db, () => {
        const run = numberOf(key)
        return run !== undefined && swap.run(version, JSON.stringify(values), run, if_version).changes > 0
      }),
  }
}

/** F#: the run's artifacts, one a name; a later one of the same name takes its place. */
export function artifactsOn(db: DatabaseSync): Pick<RunStore, 'putArtifact' | 'artifacts'> {
  const numberOf = runNumberLookup(db)
  const put = db.prepare(
    'INSERT INTO artifacts (run, name, body) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET body = excluded.body',
  )
  const all = query<{ readonly body: string }>(db, 'SELECT body FROM artifacts WHERE run = ? ORDER BY name')
  return {
    putArtifact: (key, item) =>
      commitTogether(db, () => {
        put.run(requireRunNumber(numberOf(key), key), item.name, JSON.stringify(item))
      }),
    artifacts: async (key) => {
      const run = numberOf(key)
      return run === undefined ? [] : all.all(run).map(({ body }) => JSON.parse(body))
    },
  }
}

/** C#: earlier results by definition and inputs, of any run of the tenant; the newest stays. */
export function cachedResultsOn(db: DatabaseSync): Pick<RunStore, 'cached' | 'putCached'> {
  const read = query<{ readonly body: string }>(
    db,
    'SELECT body FROM cached_results WHERE tenant = ? AND block_hash = ? AND inputs_hash = ?',
  )
  const put = db.prepare(
    `INSERT INTO cached_results (tenant, block_hash, inputs_hash, at, body) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET at = excluded.at, body = excluded.body WHERE excluded.at > cached_results.at`,
  )
  return {
    cached: async (tenant, block_hash, inputs_hash) => {
      const row = read.one(tenant, block_hash, inputs_hash)
      return row === undefined ? undefined : JSON.parse(row.body)
    },
    putCached: (tenant, block_hash, inputs_hash, result) =>
      commitTogether(db, () => {
        put.run(tenant, block_hash, inputs_hash, result.at, JSON.stringify(result))
      }),
  }
}

/** STOP: what dispatches in flight look at, of the whole run and of single blocks. */
export function stopsOn(db: DatabaseSync): Pick<RunStore, 'putStop' | 'stopped'> {
  const numberOf = runNumberLookup(db)
  const stop = db.prepare('UPDATE runs SET stopped = 1 WHERE run = ?')
  const stopBlock = db.prepare('INSERT OR IGNORE INTO stops (run, block) VALUES (?, ?)')
  const stopped = query(
    db,
    `SELECT 1 FROM runs r WHERE r.run = ?1
     AND (r.stopped = 1 OR EXISTS (SELECT 1 FROM stops WHERE run = r.run AND block = ?2))`,
  )
  return {
    putStop: (key, block) =>
      commitTogether(db, () => {
        const run = requireRunNumber(numberOf(key), key)
        if (block === undefined) stop.run(run)
        else stopBlock.run(run, block)
      }),
    stopped: async (key, block) => {
      const run = numberOf(key)
      return run !== undefined && stopped.one(run, block ?? null) !== undefined
    },
  }
}
