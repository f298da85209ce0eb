import { Fault } from '../../../shared/errors.ts'
import type { World } from '../../../shared/world.ts'
import type { Mutant } from '../mutant.ts'
import { withPorts } from './with-ports.ts'

export const callRetriedByClient: Mutant = {
  name: 'call-retried-by-client',
  what: 'whoever calls a tool of a server calls it again by itself when the answer does not come',
  world(world, name) {
    if (name !== 'run-block') return world
    const { mcp } = world
    const call: World['mcp']['call'] = (server, asked) =>
      mcp.call(server, asked).catch((error: unknown) => {
        if (error instanceof Fault && error.code === 'mcp_answer_lost') return mcp.call(server, asked)
        throw error
      })
    return withPorts(world, { mcp: { ...mcp, call } })
  },
}
