import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'

/** Who signals: a block, or the exit of a bounce module. */
interface JoinSource {
  readonly world: Pick<World, 'runs' | 'machine'>
  readonly run: RunKey
  readonly source: string
}

/**
 * Tells every join this source belongs to that it has ended. ADD first, then look at the returned item: whoever
 * completes the set answers every token that ever waited (docs/adr/0021). Safe to repeat; done before the function returns.
 */
export async function signalJoins({ world, run, source }: JoinSource, joins: readonly string[]): Promise<void> {
  for (const join of joins) {
    const item = await world.runs.signalJoin(run, join, source)
    if (item.need === undefined || item.done < item.need) continue
    for (const token of item.tokens) await world.machine.answer(token, { ok: {} })
  }
}

/** Each pass of a bounce module fills its joins anew: the item of epoch 0 has the join's own name. */
export function joinKey(join: string, e: number | undefined): string {
  return e === undefined || e === 0 ? join : `${join}~${e}`
}
