import type { World } from '../../../shared/world.ts'
import type { Mutant } from '../mutant.ts'
import { withPorts } from './with-ports.ts'

export const pauseUnseen: Mutant = {
  name: 'pause-unseen',
  what: 'blocks do not look whether their run is paused, and begin',
  world: (world, name) => (name === 'run-block' ? withPorts(world, { runs: unpaused(world.runs) }) : world),
}

function unpaused(runs: World['runs']): World['runs'] {
  return {
    ...runs,
    async head(run, lanes) {
      const head = await runs.head(run, lanes)
      if (head === undefined) return undefined
      const { paused: _, ...rest } = head
      return rest
    },
  }
}
