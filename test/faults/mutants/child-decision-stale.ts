import type { Mutant } from '../mutant.ts'
import { withPorts } from './with-ports.ts'

export const childDecisionStale: Mutant = {
  name: 'child-decision-stale',
  what: 'a block behind a child run that asked reads the context as it is, which may be patched while that run asks',
  world(world, name) {
    if (name !== 'patch-context' && name !== 'run-block') return world
    const { runs } = world
    if (name === 'patch-context') {
      const head: typeof runs.head = async (run, lanes) => {
        const now = await runs.head(run, lanes)
        return now && { ...now, lanes: {} }
      }
      return withPorts(world, { runs: { ...runs, head } })
    }
    const meta: typeof runs.meta = async (run) => {
      const found = await runs.meta(run)
      if (found?.parent === undefined) return found
      const { binding_ref: _, ...parent } = found.parent
      return { ...found, parent }
    }
    return withPorts(world, { runs: { ...runs, meta } })
  },
}
