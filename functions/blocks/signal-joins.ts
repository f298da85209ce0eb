import type { BlockCall } from './block-call.ts'

/**
 * Tells every join this block is a source of that it has ended. ADD first, then look at the returned item: whoever
 * completes the set sends the token (design compile, "Join"). Safe to repeat; done before the function returns.
 */
export async function signalJoins({ world, run, block }: BlockCall, joins: readonly string[]): Promise<void> {
  for (const join of joins) {
    const item = await world.runs.signalJoin(run, join, block.id)
    if (item.token === undefined || item.need === undefined || item.done.length < item.need) continue
    await world.machine.answer(item.token, { ok: {} })
  }
}
