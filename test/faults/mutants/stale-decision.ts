import type { World } from '../../../shared/world.ts'
import type { Mutant } from '../mutant.ts'
import { withPorts } from './with-ports.ts'

export const staleDecision: Mutant = {
  name: 'stale-decision',
  what: 'a block behind a decision reads the context as it is, and the context may be patched after the question',
  world(world, name) {
    if (name === 'patch-context') return withPorts(world, { runs: { ...world.runs, head: unasked(world.runs) } })
    if (name !== 'run-block') return world
    return withPorts(world, { runs: { ...world.runs, approval: unbound(world.runs) } })
  },
}

type Runs = World['runs']

function unasked(runs: Runs): Runs['head'] {
  return async (run, lanes) => {
    const head = await runs.head(run, lanes)
    return (
      head && {
        ...head,
        approvals: {},
        lanes: Object.fromEntries(Object.entries(head.lanes).filter(([key]) => key === 'ctx')),
      }
    )
  }
}

function unbound(runs: Runs): Runs['approval'] {
  return async (run, id) => {
    const item = await runs.approval(run, id)
    if (item === undefined) return undefined
    const { binding_ref: _, ...rest } = item
    return rest
  }
}
