import type { BounceModule } from '../../shared/dag/bounce-modules.ts'
import type { NewEvent } from '../../shared/runs/event.ts'
import { ordinal, PHASE } from '../../shared/runs/ordinal.ts'
import type { Appended, FiredRule, RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { recordEvents } from '../blocks/record-events.ts'
import { shortText } from '../blocks/short-text.ts'
import type { DueBounce } from './due-bounces.ts'

/** Bytes of ids one block:rerouted lists: an event has 1 KiB in all. A larger hull takes several events. */
const IDS_BYTES = 500
const REASON_CHARS = 200

/**
 * Raises the module's epoch and says which blocks begin again, in one update. Whoever sees the same HEAD writes the same,
 * so of two that do it one is refused and nothing is lost.
 */
export async function reroute(
  world: Pick<World, 'runs' | 'objects' | 'clock'>,
  run: RunKey,
  module: BounceModule,
  due: readonly DueBounce[],
  epoch: number,
): Promise<Appended> {
  const rules: Record<string, FiredRule> = { ...due[0]?.fired?.rules }
  const events: NewEvent[] = []
  for (const bounce of due) {
    const feedback = await world.objects.put(run.tenant, Buffer.from(JSON.stringify(bounce.failure.feedback ?? [])))
    const count = (rules[bounce.rule.key]?.count ?? 0) + 1
    rules[bounce.rule.key] = { count, epoch, feedback_ref: feedback.ref }
    events.push(...eventsOf(bounce, { count, epoch, feedback_ref: feedback.ref }))
  }
  // One phase for each part before the last (recordEvents), and the last behind them.
  const at = ordinal({ epoch, attempt: 0, phase: PHASE.completed })
  return recordEvents(world, { epoch, attempt: 0, phase: PHASE.claimed }, events, {
    run,
    lane: `m${module.key}`,
    ordinal: at,
    guard: { below: at },
    at: new Date(world.clock.now()).toISOString(),
    module: { key: String(module.key), set: { epoch, rules } },
  })
}

function eventsOf(
  { rule, failure }: DueBounce,
  { count, epoch, feedback_ref }: Required<FiredRule>,
): readonly NewEvent[] {
  const { route_to: to, max_bounces: max } = rule.bounce
  const reason = shortText(rule.bounce.reason ?? failure.reason, REASON_CHARS)
  return chunksOf(rule.hull).map((reset) => ({
    type: 'block:rerouted',
    block_id: rule.block,
    data: { to, reset, bounce: count, max, epoch, reason, feedback_ref },
  }))
}

function chunksOf(ids: readonly string[]): readonly string[][] {
  const chunks: string[][] = []
  let bytes = Number.POSITIVE_INFINITY
  for (const id of ids) {
    bytes += id.length + 3
    if (bytes > IDS_BYTES) {
      chunks.push([id])
      bytes = id.length + 3
    } else chunks.at(-1)?.push(id)
  }
  return chunks
}
