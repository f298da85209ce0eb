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
    const phases = [block.pre_gates, block.post_gates].filter((gates) =>
      gates?.some(({ on_fail }) => on_fail === 'ask'),
    )
    const asked = phases.length + (asksForMore ? 1 : 0)
    return asked === 0 ? block : { ...block, asks: { block: asked, items: asksForMore } }
  })
}
