import { runIdOfFiring } from '../../../shared/triggers/trigger.ts'
import type { Mutant } from '../mutant.ts'
import { withPorts } from './with-ports.ts'

export const droppedTwice: Mutant = {
  name: 'dropped-twice',
  what: 'an object is another firing each time it is told of',
  world(world, name) {
    if (name !== 'take-object') return world
    const { triggers } = world
    let kept = 0
    return withPorts(world, {
      triggers: {
        ...triggers,
        firing: async () => undefined,
        keepFiring(firing) {
          kept += 1
          const id = `${firing.id} ${world.ids.boot} ${kept}`
          return triggers.keepFiring({ ...firing, id, run_id: runIdOfFiring(firing, id) })
        },
      },
    })
  },
}
