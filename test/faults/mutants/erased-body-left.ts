import type { Mutant } from '../mutant.ts'
import { withPorts } from './with-ports.ts'

export const erasedBodyLeft: Mutant = {
  name: 'erased-body-left',
  what: 'the bodies of a run that is erased are said to be gone, and stay',
  world(world, name) {
    if (name !== 'keep-or-erase') return world
    return withPorts(world, { objects: { ...world.objects, erase: async () => true } })
  },
}
