import type { Mutant } from '../mutant.ts'
import { withPorts } from './with-ports.ts'

export const holdOverlooked: Mutant = {
  name: 'hold-overlooked',
  what: 'who erases a run does not look whether somebody holds it',
  world(world, name) {
    if (name !== 'erase-run') return world
    const { runs } = world
    return withPorts(world, {
      runs: {
        ...runs,
        async mark(run) {
          const { hold: _, ...mark } = (await runs.mark(run)) ?? {}
          return mark.erasure === undefined ? undefined : mark
        },
        async beginErasure(run, ...asked) {
          await runs.releaseRun(run)
          return runs.beginErasure(run, ...asked)
        },
      },
    })
  },
}
