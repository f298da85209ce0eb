import type { Mutant } from '../mutant.ts'
import { withPorts } from './with-ports.ts'

export const firingLost: Mutant = {
  name: 'firing-lost',
  what: 'a firing is noted as started before its run is there',
  world(world, name) {
    if (name !== 'fire-triggers') return world
    const { triggers } = world
    return withPorts(world, {
      triggers: {
        ...triggers,
        async takeOwed(tenant, limit) {
          const owed = await triggers.takeOwed(tenant, limit)
          for (const firing of owed) await triggers.moveFiring({ ...firing, state: 'started' })
          return owed
        },
      },
    })
  },
}
