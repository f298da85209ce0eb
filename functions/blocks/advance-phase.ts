import { advanceBlock } from './advance-block.ts'
import { advanceItem } from './advance-item.ts'
import type { BlockCall } from './block-call.ts'
import type { BlockReport } from './block-report.ts'
import { closeChild } from './close-child.ts'
import { closeItems } from './close-items.ts'
import { retryBlock } from './retry-block.ts'
import { tryBlock } from './try-block.ts'

/** What a state of the machine asks for: an attempt of a block or of one item, or what the children of a block made. */
export function advancePhase(
  call: BlockCall,
  phase: 'items' | 'close' | undefined,
  signal: AbortSignal | undefined,
): Promise<BlockReport> {
  if (call.item !== undefined) return advanceItem(call, signal)
  if (phase !== 'close') return advanceBlock(call, (now, undecided) => tryBlock(now, undecided, signal))
  return advanceBlock(call, closeBlock)
}

function closeBlock(call: BlockCall): Promise<BlockReport> {
  // A person let it go on meanwhile: it begins where its child, or its items, do.
  if (call.resumed !== undefined) throw retryBlock(call)
  return call.block.foreach === undefined ? closeChild(call) : closeItems(call)
}
