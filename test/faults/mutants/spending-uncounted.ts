import type { Mutant } from '../mutant.ts'
import { withPorts } from './with-ports.ts'

export const spendingUncounted: Mutant = {
  name: 'spending-uncounted',
  what: 'of a call that was answered nothing stays in the count of a spending cap',
  world: (world, name) =>
    name === 'run-block'
      ? withPorts(world, {
          spending: {
            ...world.spending,
            settle: (of, call) => world.spending.settle(of, call, { tokens: 0, usd_micros: 0 }),
          },
        })
      : world,
}
