import type { Mutant } from '../mutant.ts'
import { withPorts } from './with-ports.ts'

export const firedTwice: Mutant = {
  name: 'fired-twice',
  what: 'a firing has another id each time it is kept',
  world(world, name) {
    if (name !== 'fire-triggers') return world
    const { triggers } = world
    let kept = 0
    return withPorts(world, {
      triggers: {
        ...triggers,
        firing: async (key, id) => triggers.firing(key, id),
        keepFiring(firing) {
          kept += 1
          return triggers.keepFiring({ ...firing, id: `${firing.id} ${world.ids.boot} ${kept}` })
        },
      },
    })
  },
}
