import type { Mutant } from '../mutant.ts'
import { withPorts } from './with-ports.ts'

export const endToldFirst: Mutant = {
  name: 'end-told-first',
  what: 'the end of a run is noted as told before its firings are kept',
  world(world, name) {
    if (name !== 'fire-triggers') return world
    const { runs } = world
    return withPorts(world, {
      runs: {
        ...runs,
        async head(run, lanes) {
          const head = await runs.head(run, lanes)
          if (head?.outbox.some(({ kind }) => kind === 'tell_triggers')) await runs.settleOutbox(run, ['triggers'])
          return head
        },
      },
    })
  },
}
