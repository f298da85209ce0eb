import type { TriggerState } from '../../../shared/triggers/trigger-store.ts'
import type { Mutant } from '../mutant.ts'
import { withPorts } from './with-ports.ts'

export const firingOvertakes: Mutant = {
  name: 'firing-overtakes',
  what: 'a firing that is to wait for the run before it does not look whether that goes on',
  world(world, name) {
    if (name !== 'fire-triggers') return world
    const { triggers } = world
    return withPorts(world, {
      triggers: {
        ...triggers,
        async state(key) {
          const { active: _, ...state } = (await triggers.state(key)) ?? {}
          return 'version' in state ? (state as TriggerState) : undefined
        },
      },
    })
  },
}
