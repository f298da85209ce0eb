import { openDatabase } from '../../infra/local/database.ts'
import { openTriggers } from '../../infra/local/triggers.ts'
import type { Firing, TriggerStore } from '../../shared/triggers/trigger-store.ts'
import type { World } from '../../shared/world.ts'
import type { Mutant } from '../faults/mutant.ts'

interface Place {
  readonly mutant: Mutant | undefined
}

const AT = '2026-11-27T06:00:00.000Z'
const KEY = { tenant: 'main', document: 'report', trigger: 'nightly' }
const FIRING: Firing = {
  ...KEY,
  id: AT,
  kind: 'schedule',
  at: AT,
  kept_at: AT,
  state: 'owed',
  run_id: 'run_0000000000000000000000000a',
  tries: 0,
  next_at: AT,
}

/** The store of triggers as the function that fires them sees it. */
async function withTriggers(
  { mutant }: Place,
  holds: (seen: TriggerStore, stored: TriggerStore) => Promise<boolean>,
  name = 'fire-triggers',
): Promise<boolean> {
  const db = openDatabase(':memory:')
  try {
    const stored = openTriggers(db)
    const world = { triggers: stored, ids: { boot: 'boot' } } as unknown as World
    const { triggers } = mutant?.world?.(world, name) ?? world
    return await holds(triggers, stored)
  } finally {
    db.close()
  }
}

/** What each mutant of triggers breaks, on its own: true as long as nothing is broken. */
export const TRIGGER_PROMISES: Readonly<Record<string, (place: Place) => Promise<boolean>>> = {
  'fired-twice': (place) =>
    withTriggers(place, async (seen) => {
      const [first, again] = [await seen.keepFiring(FIRING), await seen.keepFiring(FIRING)]
      return first.id === again.id
    }),
  'dropped-twice': (place) =>
    withTriggers(
      place,
      async (seen) => {
        const [first, again] = [await seen.keepFiring(FIRING), await seen.keepFiring(FIRING)]
        return first.id === again.id
      },
      'take-object',
    ),
  'firing-lost': (place) =>
    withTriggers(place, async (seen, stored) => {
      await stored.keepFiring(FIRING)
      await seen.takeOwed('main', 10)
      return (await stored.firing(KEY, AT))?.state === 'owed'
    }),
  async 'end-told-first'({ mutant }) {
    let owes = true
    const runs = {
      head: async () => ({ outbox: owes ? [{ id: 'triggers', at: AT, kind: 'tell_triggers' }] : [] }),
      async settleOutbox() {
        owes = false
      },
    }
    const world = { runs } as unknown as World
    await (mutant?.world?.(world, 'fire-triggers') ?? world).runs.head({ tenant: 'main', run_id: FIRING.run_id })
    return owes
  },
  'joined-with-nobody': (place) =>
    withTriggers(place, async (seen, stored) => {
      await seen.putState({
        ...KEY,
        version: 1,
        since: AT,
        joined: { id: AT, run_id: FIRING.run_id, from: AT, until: AT },
      })
      return (await stored.state(KEY))?.joined?.id === AT
    }),
  'rate-uncounted': (place) =>
    withTriggers(place, async (seen, stored) => {
      await stored.putState({ ...KEY, version: 1, since: AT, counted: [{ run_id: FIRING.run_id, at: AT }] })
      return (await seen.state(KEY))?.counted?.length === 1
    }),
  'firing-overtakes': (place) =>
    withTriggers(place, async (seen, stored) => {
      const active = { id: AT, run_id: FIRING.run_id }
      await stored.putState({ ...KEY, version: 1, since: AT, active })
      return (await seen.state(KEY))?.active?.run_id === FIRING.run_id
    }),
}
