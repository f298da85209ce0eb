import { advanceBlock } from './advance-block.ts'
import { advanceItem } from './advance-item.ts'
import type { BlockCall } from './block-call.ts'
import type { BlockReport } from './block-report.ts'
import { closeChild } from './close-child.ts'
import { closeItems } from './close-items.ts'
import { tryBlock } from './try-block.ts'

/** What a state of the machine asks for: an attempt of a block or of one item, or what the children of a block made. */
export function advancePhase(
  call: BlockCall,
  phase: 'items' | 'close' | undefined,
  signal: AbortSignal | undefined,
): Promise<BlockReport> {
  if (call.item !== undefined) return advanceItem(call, signal)
  if (phase !== 'close') return advanceBlock(call, (undecided) => tryBlock(call, undecided, signal))
  return advanceBlock(call, () => (call.block.foreach === undefined ? closeChild(call) : closeItems(call)))
}
