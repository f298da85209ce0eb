import type { HostContext } from '../handler.ts'
import { advanceBlock } from './advance-block.ts'
import type { BlockCall } from './block-call.ts'
import { guardBlock } from './guard-block.ts'
import { openItems } from './open-items.ts'

/** `_items_<id>`: the numbers of the items the machine runs; none when the block has ended, or does not begin. */
export async function itemNumbers(call: BlockCall, host: HostContext): Promise<readonly number[]> {
  let count = 0
  await guardBlock(call, host, () =>
    advanceBlock(call, async (now, undecided) => {
      const opened = await openItems(now, undecided, host.signal)
      count = opened.count
      return opened.report
    }),
  )
  return Array.from({ length: count }, (_, item) => item)
}
