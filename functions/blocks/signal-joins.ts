import type { BlockCall } from './block-call.ts'

/**
 * Tells every join this block is a source of that it has ended. ADD first, then look at the returned item: whoever
 * completes the set answers every token that ever waited (docs/adr/0021). Safe to repeat; done before the function returns.
 */
export async function signalJoins({ world, run, block }: BlockCall, joins: readonly string[]): Promise<void> {
  for (const join of joins) {
    const item = await world.runs.signalJoin(run, join, block.id)
    if (item.need === undefined || item.done.length < item.need) continue
    for (const token of item.tokens) await world.machine.answer(token, { ok: {} })
  }
}
