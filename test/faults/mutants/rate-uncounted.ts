import type { TriggerState } from '../../../shared/triggers/trigger-store.ts'
import type { Mutant } from '../mutant.ts'
import { withPorts } from './with-ports.ts'

export const rateUncounted: Mutant = {
  name: 'rate-uncounted',
  what: 'a firing with a rate does not look which were let through before it',
  world(world, name) {
    if (name !== 'fire-triggers') return world
    const { triggers } = world
    return withPorts(world, {
      triggers: {
        ...triggers,
        async state(key) {
          const { counted: _, ...state } = (await triggers.state(key)) ?? {}
          return 'version' in state ? (state as TriggerState) : undefined
        },
      },
    })
  },
}
