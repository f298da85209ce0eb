import type { Mutant } from '../mutant.ts'
import { withPorts } from './with-ports.ts'

export const childTakenOver: Mutant = {
  name: 'child-taken-over',
  what: 'a retry takes over the result of a child run that asks, and nobody is asked again',
  world(world, name) {
    if (name !== 'open-child' && name !== 'run-block') return world
    const { runs } = world
    const meta: typeof runs.meta = async (run) => {
      const found = await runs.meta(run)
      return found && { ...found, children: {} }
    }
    return withPorts(world, { runs: { ...runs, meta } })
  },
}
