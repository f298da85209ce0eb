import type { Erasure, SaidWhy } from '../../shared/runs/erasure.ts'
import { placeOf, term } from '../../shared/runs/facts-index.ts'
import type { RunStore } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { keyOf, newRun } from '../conformance/run-store-fixture.ts'
import { cachedResult } from '../conformance/run-store-model.ts'
import type { Mutant } from '../faults/mutant.ts'

interface Place {
  readonly store: RunStore
  readonly mutant: Mutant | undefined
}

const { meta } = newRun(1)
const run = keyOf(meta)
const AT = '2026-11-27T06:00:00.000Z'
const SAID: SaidWhy = { by: 'user:ana', at: AT, reason: 'They asked for it' }
const ASKED: Erasure = { ...SAID, version: 1, step: 'asked', children: [] }

function worldOf(ports: Partial<World>, mutant: Mutant | undefined, name: string): World {
  const world = ports as World
  return mutant?.world?.(world, name) ?? world
}

/** What each mutant of erasures breaks, on its own: true as long as nothing is broken. */
export const ERASURE_PROMISES: Readonly<Record<string, (place: Place) => Promise<boolean>>> = {
  async 'erased-body-left'({ mutant }) {
    let isThere = true
    const erase = async () => {
      isThere = false
      return true
    }
    const { objects } = worldOf({ objects: { erase } as never }, mutant, 'keep-or-erase')
    await objects.erase('main', 'objstore://main/1', 0)
    return !isThere
  },
  async 'erased-kept-result'({ store }) {
    await store.putCached('main', 'block', 'inputs', { ...cachedResult(1), run_id: run.run_id })
    await store.dropCached(run, 'block', 'inputs')
    return (await store.cached('main', 'block', 'inputs')) === undefined
  },
  async 'erased-still-listed'({ store }) {
    await store.beginErasure(run, ASKED, AT)
    await store.eraseItems(run)
    const under = await store.placesUnder('main', term.dag(meta.dag_name), { limit: 10 })
    return !under.includes(placeOf(meta))
  },
  async 'erasure-lost'({ store }) {
    await store.beginErasure(run, ASKED, AT)
    return (await store.mark(run))?.check_at === AT
  },
  async 'hold-overlooked'({ store, mutant }) {
    await store.holdRun(run, SAID, AT)
    const { runs } = worldOf({ runs: store }, mutant, 'erase-run')
    return (await runs.beginErasure(run, ASKED, AT)) === 'held'
  },
}
