import type { Mutant } from '../mutant.ts'
import { withPorts } from './with-ports.ts'

export const joinedWithNobody: Mutant = {
  name: 'joined-with-nobody',
  what: 'which firing stands for others is noted under an id that none of them has',
  world(world, name) {
    if (name !== 'fire-triggers') return world
    const { triggers } = world
    return withPorts(world, {
      triggers: {
        ...triggers,
        putState({ joined, ...state }) {
          const noted = joined === undefined ? {} : { joined: { ...joined, id: `${joined.id} ${world.ids.boot}` } }
          return triggers.putState({ ...state, ...noted })
        },
      },
    })
  },
}
