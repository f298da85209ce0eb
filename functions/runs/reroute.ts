import type { BounceModule } from '../../shared/dag/bounce-modules.ts'
import type { Appended } from '../../shared/runs/append.ts'
import type { NewEvent } from '../../shared/runs/event.ts'
import type { FiredRule, HeadModule } from '../../shared/runs/head.ts'
import { moduleLane } from '../../shared/runs/lane-key.ts'
import { ordinal, PHASE } from '../../shared/runs/ordinal.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { recordEvents } from '../blocks/record-events.ts'
import { shortText } from '../blocks/short-text.ts'
import type { DueBounce } from './due-bounces.ts'

/** What one bounce of a module comes to: `due` rules fire together, `also` are skipped blocks that are asked again. */
export interface Bouncing {
  readonly module: BounceModule
  readonly index: ReadonlyMap<string, number>
  /** What HEAD knows of the module so far. */
  readonly fired: HeadModule | undefined
  readonly due: readonly DueBounce[]
  readonly also: readonly string[]
  /** The new one. */
  readonly epoch: number
}

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
  { module, index, fired, due, also, epoch }: Bouncing,
): Promise<Appended> {
  const rules: Record<string, FiredRule> = { ...fired?.rules }
  const events: NewEvent[] = []
  for (const [i, bounce] of due.entries()) {
    const feedback = await world.objects.put(run.tenant, Buffer.from(JSON.stringify(feedbackOf(bounce))))
    const count = (rules[bounce.rule.key]?.count ?? 0) + 1
    rules[bounce.rule.key] = { count, epoch, feedback_ref: feedback.ref }
    const reset = i === 0 ? [...bounce.rule.hull, ...also] : bounce.rule.hull
    events.push(...eventsOf(bounce, reset, { count, epoch, feedback_ref: feedback.ref }))
  }
  const asked = Object.fromEntries(also.map((id) => [String(index.get(id)), epoch]))
  // One phase for each part before the last (recordEvents), and the last behind them.
  const at = ordinal({ epoch, attempt: 0, phase: PHASE.completed })
  return recordEvents(world, { epoch, attempt: 0, phase: PHASE.claimed }, events, {
    run,
    lane: moduleLane(module),
    ordinal: at,
    guard: { below: at },
    at: new Date(world.clock.now()).toISOString(),
    module: { key: String(module.key), set: { epoch, rules, also: { ...fired?.also, ...asked } } },
  })
}

/** Lines for the prompts of the reset blocks: the verdicts, then what the author says of them. */
function feedbackOf({ rule, failure }: DueBounce): readonly string[] {
  const { reason } = rule.bounce
  return [...(failure.feedback ?? []), ...(reason === undefined ? [] : [reason])]
}

function eventsOf(
  { rule, failure }: DueBounce,
  ids: readonly string[],
  { count, epoch, feedback_ref }: Required<FiredRule>,
): readonly NewEvent[] {
  const { route_to: to, max_bounces: max } = rule.bounce
  const reason = shortText(rule.bounce.reason ?? failure.reason, REASON_CHARS)
  return chunksOf(ids).map((reset) => ({
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
