import { beginTurn, enterQueue } from '../../shared/runs/key-queue.ts'
import type { RunStore } from '../../shared/runs/run-store.ts'

const OF = { tenant: 'main', queue: 'q'.repeat(64) }
const AT = '2026-11-27T06:00:00.000Z'

async function come(store: RunStore, run_id: string): Promise<void> {
  const seen = await store.keyQueue(OF)
  const turn = { queue: OF.queue, limit: 1, on_conflict: 'queue' } as const
  const entered = enterQueue(seen, { run_id, turn, priority: 0, child: false }, AT)
  if (entered.is === 'in') await store.putKeyQueue(OF, entered.queue, seen.version)
}

async function begin(store: RunStore, run_id: string): Promise<string> {
  const seen = await store.keyQueue(OF)
  const begun = beginTurn(seen, run_id, AT)
  await store.putKeyQueue(OF, begun.queue, seen.version)
  return begun.is
}

/** What each mutant of turns breaks, on its own: true as long as nothing is broken. */
export const TURN_PROMISES: Readonly<Record<string, (place: { readonly store: RunStore }) => Promise<boolean>>> = {
  async 'turn-over-limit'({ store }) {
    await come(store, 'a')
    await begin(store, 'a')
    await come(store, 'b')
    return (await begin(store, 'b')) === 'waits'
  },
  async 'turn-overtaken'({ store }) {
    await come(store, 'a')
    await come(store, 'b')
    return (await begin(store, 'a')) === 'running'
  },
}
