import { toolHash } from '../../../shared/tools/tool-pin.ts'
import type { World } from '../../../shared/world.ts'
import type { Mutant } from '../mutant.ts'
import { withPorts } from './with-ports.ts'

export const toolAsItIs: Mutant = {
  name: 'tool-as-it-is',
  what: 'a tool is called as its server tells of it now, not as the run was frozen to it',
  world(world, name) {
    if (name !== 'run-block') return world
    const { mcp } = world
    const call: World['mcp']['call'] = async (server, asked) => {
      const now = (await mcp.tools(server, asked.signal)).find((tool) => tool.name === asked.tool)
      if (now === undefined) return mcp.call(server, asked)
      return mcp.call(server, { ...asked, expected: { ...asked.expected, hash: toolHash(now) } })
    }
    return withPorts(world, { mcp: { ...mcp, call } })
  },
}
