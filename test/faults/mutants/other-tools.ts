import type { Dag, ToolUse } from '../../../shared/dag/dag.ts'
import type { World } from '../../../shared/world.ts'
import { jsonOf, withPorts } from './with-ports.ts'

/** A World whose run-block reads every document with other tools than the run is pinned to. */
export function withTools(world: World, name: string, change: (tool: ToolUse) => ToolUse): World {
  if (name !== 'run-block') return world
  const { objects } = world
  const get: World['objects']['get'] = async (...asked) => {
    const bytes = await objects.get(...asked)
    const body = jsonOf(bytes)
    return isDocument(body) ? Buffer.from(JSON.stringify(changed(body, change))) : bytes
  }
  return withPorts(world, { objects: { ...objects, get } })
}

function isDocument(body: unknown): body is Dag {
  return typeof body === 'object' && body !== null && 'blocks' in body && Array.isArray(body.blocks)
}

function changed(dag: Dag, change: (tool: ToolUse) => ToolUse): Dag {
  const blocks = dag.blocks.map((block) => {
    if (block.mode !== 'ai' || block.agent.acting === undefined) return block
    const acting = { ...block.agent.acting, tools: block.agent.acting.tools.map(change) }
    return { ...block, agent: { ...block.agent, acting } }
  })
  return { ...dag, blocks }
}
