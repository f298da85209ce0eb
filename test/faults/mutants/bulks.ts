import type { Mutant } from '../mutant.ts'
import { withPorts } from './with-ports.ts'

/** After a crash a run is labelled again: the note that tells of it is not known. */
export const bulkDoneTwice: Mutant = {
  name: 'bulk-done-twice',
  what: 'a change of labels in bulk is not known again after it was made',
  world(world, name) {
    if (name !== 'run-bulk') return world
    const { runs } = world
    return withPorts(world, {
      runs: {
        ...runs,
        notes: async (run) => (await runs.notes(run)).map((note) => ({ ...note, id: `${note.id}~` })),
      },
    })
  },
}

export const bulkRunSkipped: Mutant = {
  name: 'bulk-run-skipped',
  what: 'runs of a bulk are counted as done before it is done to them',
  world(world, name) {
    if (name !== 'run-bulk') return world
    const { runs, clock } = world
    return withPorts(world, {
      runs: {
        ...runs,
        async bulkRuns(key, from, limit) {
          const part = await runs.bulkRuns(key, from, limit)
          const bulk = await runs.bulk(key)
          if (bulk?.state !== 'running' || bulk.next !== from) return part
          const next = from + part.length
          const state = next >= bulk.count ? ('done' as const) : ('running' as const)
          const check_at = state === 'done' ? undefined : new Date(clock.now()).toISOString()
          await runs.moveBulk(
            { ...bulk, version: bulk.version + 1, next, state, done: bulk.done + part.length },
            check_at,
          )
          return part
        },
      },
    })
  },
}

export const bulkSearchesAgain: Mutant = {
  name: 'bulk-searches-again',
  what: 'a bulk is done to the runs there are when it is carried out',
  world(world, name) {
    if (name !== 'run-bulk') return world
    const { runs } = world
    return withPorts(world, {
      runs: {
        ...runs,
        async bulkRuns(key, from, limit) {
          const listed = await runs.bulkRuns(key, from, limit)
          const found = await runs.facts(key.tenant, { limit: 1_000 })
          const ids = found.flatMap(({ stored }) => (stored?.birth.dag_name === 'bulked' ? [stored.birth.run_id] : []))
          return ids
            .slice(from, from + limit)
            .map((run_id, i) => listed.find((one) => one.run_id === run_id) ?? { n: from + i, run_id })
        },
      },
    })
  },
}
