import type { RunStore } from '../../../shared/runs/run-store.ts'
import type { Mutant } from '../mutant.ts'
import { withPorts } from './with-ports.ts'

export const outboxSettledFirst: Mutant = {
  name: 'outbox-settled-first',
  what: 'what a run owes is marked as done before it is done',
  world: (world, name) => (name === 'send-outbox' ? withPorts(world, { runs: settlingFirst(world.runs) }) : world),
}

function settlingFirst(runs: RunStore): RunStore {
  return {
    ...runs,
    async head(run, lanes) {
      const head = await runs.head(run, lanes)
      const owed = (head?.outbox ?? []).map(({ id }) => id)
      if (owed.length > 0) await runs.settleOutbox(run, owed)
      return head
    },
    settleOutbox: async () => {},
  }
}
