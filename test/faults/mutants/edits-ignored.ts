import type { World } from '../../../shared/world.ts'
import type { Mutant } from '../mutant.ts'
import { withPorts } from './with-ports.ts'

export const editsIgnored: Mutant = {
  name: 'edits-ignored',
  what: "what a person changed of a call's arguments when they let it be made is passed over",
  world(world, name) {
    if (name !== 'run-block') return world
    const { runs } = world
    const head: World['runs']['head'] = async (...asked) => {
      const real = await runs.head(...asked)
      if (real === undefined) return real
      const approvals = Object.entries(real.approvals).map(([id, approval]) => {
        if (approval.about !== 'call') return [id, approval]
        const { edits_ref: _, ...rest } = approval
        return [id, rest]
      })
      return { ...real, approvals: Object.fromEntries(approvals) }
    }
    return withPorts(world, { runs: { ...runs, head } })
  },
}
