import type { Dag, ToolPin, ToolUse } from '../dag/dag.ts'
import { sha256 } from '../text/hash.ts'
import { canonicalJson } from '../text/json.ts'
import { type ActingBlock, isActing } from './agent-items.ts'

/** What a place says of the tools of a document, by their `use`. */
export type ToolPins = ReadonlyMap<string, ToolPin>

/** The tools that agents of a document call, each once. */
export function toolsOf({ blocks }: Pick<Dag, 'blocks'>): readonly ToolUse[] {
  const all = blocks.flatMap((block) => (isActing(block) ? block.agent.acting.tools : []))
  return [...new Map(all.map((tool) => [tool.use, tool])).values()]
}

/** The document with its tools frozen; the hash of a block stands for what its tools were, as for its model. */
export function bindTools(dag: Dag, pins: ToolPins): Dag {
  return { ...dag, blocks: dag.blocks.map((block) => (isActing(block) ? boundBlock(block, pins) : block)) }
}

function boundBlock(block: ActingBlock, pins: ToolPins): ActingBlock {
  const tools = block.agent.acting.tools.map((tool) => {
    const pin = pins.get(tool.use)
    return pin === undefined ? tool : { ...tool, pin }
  })
  const hashes = tools.map(({ pin }) => (pin === undefined ? null : [pin.hash, pin.step?.hash ?? '']))
  const agent = { ...block.agent, acting: { ...block.agent.acting, tools } }
  return { ...block, agent, hash: sha256(canonicalJson({ block: block.hash, tools: hashes })) }
}
