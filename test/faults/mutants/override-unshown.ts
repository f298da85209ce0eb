import type { Mutant } from '../mutant.ts'
import { withPorts } from './with-ports.ts'

export const overrideUnshown: Mutant = {
  name: 'override-unshown',
  what: 'a question does not show in what its run differs from a plain start',
  world(world, name) {
    if (name !== 'request-approval') return world
    const { runs } = world
    const putApproval: typeof runs.putApproval = (run, { changes: _, ...item }, token) =>
      runs.putApproval(run, item, token)
    return withPorts(world, { runs: { ...runs, putApproval } })
  },
}
