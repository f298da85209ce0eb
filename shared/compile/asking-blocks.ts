import type { Block, Dag } from '../dag/dag.ts'
import type { CompiledBlock } from './compiled-block.ts'

/** What decides whether a block's machine can ask: gates with `on_fail: ask`, and `budget.on_exceed: ask` of its document. */
export type AskingBlock = Omit<CompiledBlock, 'asks'> & {
  readonly pre_gates?: readonly Pick<Block['pre_gates'][number], 'on_fail'>[]
  readonly post_gates?: readonly Pick<Block['post_gates'][number], 'on_fail'>[]
}

/** The blocks with what they may ask; those of a document without questions are the same ones. */
export function askingBlocks(blocks: readonly AskingBlock[], budget: Dag['budget']): readonly CompiledBlock[] {
  const asksForMore = budget?.on_exceed === 'ask'
  return blocks.map((block) => {
    const asked = (asksForMore ? 1 : 0) + phaseAsking(block.pre_gates) + phaseAsking(block.post_gates)
    return asked === 0 ? block : { ...block, asks: { block: asked, items: asksForMore } }
  })
}

function phaseAsking(gates: AskingBlock['pre_gates']): 0 | 1 {
  return gates?.some(({ on_fail }) => on_fail === 'ask') === true ? 1 : 0
}
