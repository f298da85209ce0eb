import type { DatabaseSync } from 'node:sqlite'
import { laneKey } from '../../../shared/runs/lane.ts'
import type { RunKey, RunStore } from '../../../shared/runs/run-store.ts'
import type { BlockProjection } from '../../../shared/runs/run-store-items.ts'
import { commitTogether, decideQuietly } from '../database.ts'
import { project } from './append.ts'
import { type LiveJoin, type LiveRun, liveRunsOf } from './live-runs.ts'
import { nameOf, query, requireRun, runNumberLookup } from './query.ts'
import { withTwins } from './twin-hashes.ts'

interface ProjectionRow {
  readonly lease_until: string | null
  readonly body: string
}

/** B#: the newest state of each block and of each item of a foreach block, and the lease of its attempt. */
export function projectionsOn(
  db: DatabaseSync,
): Pick<RunStore, 'putProjection' | 'projections' | 'itemProjections' | 'renewLease'> {
  const live = liveRunsOf(db)
  const numberOf = runNumberLookup(db)
  const stored = storedProjections(db)
  const liveOrStored = (run: number, lanes: readonly string[]): readonly BlockProjection[] => {
    const one = live.peek(run)
    return one === undefined ? stored.some(run, lanes) : projectionsOf(one, lanes)
  }
  return {
    putProjection: (key, projection) =>
      commitTogether(
        db,
        () => {
          const one = requireRun(live.open(key), key)
          project(one, projection)
          live.changed(one)
        },
        nameOf(key),
      ),
    projections: async (key, blocks) => {
      const run = numberOf(key)
      if (run === undefined) return []
      if (blocks === undefined) await live.toFile(run)
      return blocks === undefined ? stored.all(run) : liveOrStored(run, blocks.map(String))
    },
    itemProjections: async (key, block, only) => {
      const run = numberOf(key)
      if (run === undefined) return []
      const lanes = only?.map((item) => laneKey({ block, item }))
      if (lanes === undefined) await live.toFile(run)
      return lanes === undefined ? stored.items(run, block) : liveOrStored(run, lanes)
    },
    renewLease: (key, owner, holder, lease_until) =>
      commitTogether(
        db,
        () => {
          const one = live.open(key)
          const lane = laneKey(owner)
          const now = one?.lanes.get(lane)
          if (one === undefined || now?.projection?.holder !== holder || now.projection.state !== 'running')
            return false
          now.lease_until = lease_until
          one.unwritten.lanes.add(lane)
          live.changed(one)
          return true
        },
        nameOf(key),
      ),
  }
}

function projectionsOf({ lanes }: LiveRun, wanted: readonly string[]): readonly BlockProjection[] {
  const keys = [...new Set(wanted)].sort((a, b) => a.length - b.length || (a < b ? -1 : 1))
  return keys.flatMap((key) => {
    const { projection, lease_until } = lanes.get(key) ?? {}
    if (projection === undefined) return []
    return lease_until === undefined || lease_until === projection.lease_until
      ? projection
      : { ...projection, lease_until }
  })
}

/** As the file has them. */
function storedProjections(db: DatabaseSync) {
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
    all: (run: number) => all.all(run).map(readProjection),
    some: (run: number, lanes: readonly string[]) => some.all(run, JSON.stringify(lanes)).map(readProjection),
    items: (run: number, block: number) => items.all(run, String(block)).map(readProjection),
  }
}

function readProjection({ lease_until, body }: ProjectionRow): BlockProjection {
  const projection: BlockProjection = JSON.parse(withTwins(body))
  return lease_until === null ? projection : { ...projection, lease_until }
}

interface JoinRow {
  readonly done: string
  readonly need: number | null
  readonly tokens: string
}

/**
 * J#: a set of the sources that are done, and who waits for them (docs/architecture.md, "Joins"). Decided in memory: who is
 * told of it are states of this process, and a source that is lost with it comes again.
 */
export function joinsOn(db: DatabaseSync): Pick<RunStore, 'waitJoin' | 'signalJoin'> {
  const live = liveRunsOf(db)
  const read = joinReader(db)
  const joinOf = (key: RunKey, join: string) => {
    const one = requireRun(live.open(key), key)
    const there = one.joins.get(join) ?? (one.isWhole ? emptyJoin() : read(one.run, join))
    one.joins.set(join, there)
    live.changed(one)
    return { item: there, unwritten: one.unwritten }
  }
  const decide = <T>(key: RunKey, work: () => T) => decideQuietly(db, work, nameOf(key))
  return {
    waitJoin: (key, join, { need, token }) =>
      decide(key, () => {
        const { item, unwritten } = joinOf(key, join)
        if (item.done.size >= need) return 'done'
        unwritten.waits.push([join, token, need])
        item.tokens.add(token)
        item.need = Math.max(item.need ?? 0, need)
        return 'waiting'
      }),
    signalJoin: (key, join, source) =>
      decide(key, () => {
        const { item, unwritten } = joinOf(key, join)
        const { done, tokens, need } = item
        if (!done.has(source)) unwritten.done.push([join, source])
        done.add(source)
        return { done: done.size, tokens: [...tokens].sort(), ...(need === undefined ? {} : { need }) }
      }),
  }
}

function emptyJoin(): LiveJoin {
  return { done: new Set(), tokens: new Set(), need: undefined }
}

function joinReader(db: DatabaseSync): (run: number, join: string) => LiveJoin {
  const item = query<JoinRow>(
    db,
    `SELECT max(need) AS need, json_group_array(token ORDER BY token) AS tokens,
       (SELECT json_group_array(source) FROM join_done WHERE run = ?1 AND key = ?2) AS done
     FROM join_waits WHERE run = ?1 AND key = ?2`,
  )
  return (run, join) => {
    const { done = '[]', need = null, tokens = '[]' } = item.one(run, join) ?? {}
    return { done: new Set(JSON.parse(done)), tokens: new Set(JSON.parse(tokens)), need: need ?? undefined }
  }
}

interface ContextRow {
  readonly version: number
  readonly body: string
}

/** CTX: the run's shared context, compare-and-set on its version. */
export function contextOn(db: DatabaseSync): Pick<RunStore, 'context' | 'putContext'> {
  const live = liveRunsOf(db)
  const numberOf = runNumberLookup(db)
  const read = query<ContextRow>(db, 'SELECT version, body FROM contexts WHERE run = ?')
  const swap = db.prepare('UPDATE contexts SET version = ?, body = ? WHERE run = ? AND version = ?')
  return {
    context: async (key) => {
      const run = numberOf(key)
      if (run === undefined) return undefined
      const one = live.peek(run)
      if (one?.context !== undefined) return one.context
      const row = read.one(run)
      const context = row === undefined ? undefined : { version: row.version, values: JSON.parse(row.body) }
      if (one !== undefined && context !== undefined) one.context = context
      return context
    },
    putContext: (key, { version, values }, if_version) =>
      commitTogether(
        db,
        () => {
          const run = numberOf(key)
          live.write()
          const put = run !== undefined && swap.run(version, JSON.stringify(values), run, if_version).changes > 0
          const one = put ? live.peek(run) : undefined
          // Read again: as it was written.
          if (one !== undefined) delete one.context
          return put
        },
        nameOf(key),
      ),
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
        put.run(requireRun(numberOf(key), key), item.name, JSON.stringify(item))
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
  const live = liveRunsOf(db)
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
        const run = requireRun(numberOf(key), key)
        live.write()
        if (block === undefined) stop.run(run)
        else stopBlock.run(run, block)
      }),
    stopped: async (key, block) => {
      const run = numberOf(key)
      return run !== undefined && stopped.one(run, block ?? null) !== undefined
    },
  }
}
