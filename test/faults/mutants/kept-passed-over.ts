import type { Mutant } from '../mutant.ts'
import { withPorts } from './with-ports.ts'

export const keptPassedOver: Mutant = {
  name: 'kept-passed-over',
  what: 'a wait that begins does not look at the events that were kept before it was registered',
  world(world, name) {
    if (name !== 'open-wait') return world
    return withPorts(world, { waits: { ...world.waits, keptEvents: async () => ({ events: [] }) } })
  },
}
