import { type Block, type Dag, type GateUse, opensChild } from '../dag/dag.ts'
import { leafChecks } from '../gates/check-composition.ts'
import { type AttemptCaps, attemptLimit } from './caps.ts'
import type { RunEvent } from './event.ts'
import { foldRun } from './fold-run.ts'
import { eventPosition, type StepFold } from './run-fold.ts'
import { hasOpenWait, movingBlocks } from './waiting.ts'

/** When a run counts as stalled if nothing happens until then (milliseconds since 1970), and what was to go on. */
export interface Stall {
  readonly at: number
  /** Blocks at work or next, in document order; none: all have ended, and the run has not. */
  readonly blocks: readonly string[]
}

interface StallRules extends AttemptCaps {
  readonly stall_ms: number
}

/** A dispatch that is over is judged by gates and recorded. */
const RECORD_MS = 60_000

/** A call of a block's function cannot be longer: its state ends after 930 s (shared/compile/emit-block.ts). */
const CALL_MS = 930_000

/**
 * The stall watchdog's verdict on a live run that owes no start and waits for no child run: `since` is when anything
 * last happened in it (an event of it or of its children, its release from the queue). A retry that is not due yet, an
 * attempt inside its own timeout and gates that ask the world are waited for; undefined where a person is, or what
 * a block waits for (docs/operate.md, "Stalls").
 */
export function findStall(
  dag: Dag,
  events: readonly RunEvent[],
  since: number,
  { stall_ms, ...caps }: StallRules,
): Stall | undefined {
  const fold = foldRun(events)
  if (Object.values(fold.approvals).some(({ status }) => status === 'pending') || hasOpenWait(fold)) return undefined
  const moving = movingBlocks(dag, fold)
  const byId = new Map(dag.blocks.map((block) => [block.id, block]))
  const resumed = resumedAt(events)
  const attempts = fold.steps.flatMap((step) => attemptEnd(step, resumed, byId.get(step.block_id), caps))
  const retries = events.flatMap(({ type, data }) => (type === 'block:retrying' ? [Date.parse(data.due_at)] : []))
  const quiet = Math.max(since, ...retries) + stall_ms
  // Without blocks it is a research chain: a stage is one call of a function, whatever it waits for.
  const mayCall = dag.blocks.length === 0 || moving.some(asksTheWorld)
  const calls = mayCall ? [Math.max(since, ...retries) + CALL_MS] : []
  return { at: Math.max(quiet, ...attempts, ...calls), blocks: moving.map(({ id }) => id) }
}

/** By when an attempt under way must have been recorded; a foreach block is none, its items are; nor is a child run's. */
function attemptEnd(
  step: StepFold,
  resumed: ReadonlyMap<string, string>,
  block: Block | undefined,
  caps: AttemptCaps,
): readonly number[] {
  if (step.state !== 'running' || block === undefined || opensChild(block.mode)) return []
  if (block.foreach !== undefined && step.item === undefined) return []
  const from = resumed.get(attemptKey(step)) ?? step.started_at
  return [Date.parse(from) + attemptLimit(block, caps).ms + RECORD_MS]
}

/** When a block, or an item, went on last after a person's answer. */
function resumedAt(events: readonly RunEvent[]): ReadonlyMap<string, string> {
  return new Map(
    events.flatMap((event) => {
      if (event.type !== 'block:resumed' || event.block_id === undefined) return []
      return [[attemptKey({ block_id: event.block_id, ...eventPosition(event) }), event.at] as const]
    }),
  )
}

function attemptKey({ block_id, epoch, attempt, item }: Pick<StepFold, 'block_id' | 'epoch' | 'attempt' | 'item'>) {
  return `${epoch}/${attempt}/${item ?? ''}/${block_id}`
}

const ASKING: ReadonlySet<string> = new Set(['http', 'webhook', 'shell', 'llm_review'])

/** Gates run before an attempt begins and after its dispatch; those that ask somebody take their time. */
function asksTheWorld({ pre_gates, post_gates, foreach }: Block): boolean {
  const uses: readonly GateUse[] = [...pre_gates, ...post_gates, ...(foreach?.item_gates ?? [])]
  return uses.some(({ check }) => leafChecks(check).some(({ type }) => ASKING.has(type)))
}
