import { callBlock, turnBlock } from '../agents/agent-blocks.ts'
import { type ActingBlock, isActing } from '../agents/agent-items.ts'
import { toolNamed, unknownTool } from '../agents/transcript.ts'
import type { Block } from '../dag/dag.ts'
import type { Pass } from '../runs/block-passes.ts'
import { itemBlock } from '../runs/foreach.ts'
import { TOOL_GATES } from '../tools/tool-gates.ts'

/** The block an attempt was made of: that of the document, or of an item of it. */
export function judgedBlock(pass: Pass, block: Block): Block {
  if (pass.item === undefined) return block
  if (isActing(block)) return agentItemBlock(pass, block)
  return block.foreach === undefined ? block : itemBlock(block, block.foreach)
}

/** A turn, or a call with what stood in its way, which its verdicts tell. */
function agentItemBlock({ events }: Pass, block: ActingBlock): Block {
  const started = events.find((event) => event.type === 'block:started')
  const name = started?.type === 'block:started' ? started.data.call?.tool : undefined
  if (name === undefined) return turnBlock(block)
  const own = new Set<string>(TOOL_GATES)
  const obstacles = new Map(
    events.flatMap((event) => {
      if (event.type !== 'block:gate' || !own.has(event.data.gate) || event.attempt !== events.at(-1)?.attempt)
        return []
      const { gate, reason } = event.data
      return [[gate, { name: gate, reason, on_fail: 'ask' as const }] as const]
    }),
  )
  const tool = toolNamed(block.agent.acting, name) ?? unknownTool(name)
  return callBlock(block, tool, { args: {}, obstacles: [...obstacles.values()] })
}
