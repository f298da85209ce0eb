import type { RunEvent } from '../../shared/runs/event.ts'
import type { PlannedBlock } from './random-runs.ts'

type Rerouted = Extract<RunEvent, { readonly type: 'block:rerouted' }>

/** A block's events, epoch by epoch: one list more for each bounce that sent it back. */
export function passesOf(events: readonly RunEvent[], id: string, item?: number): readonly (readonly RunEvent[])[] {
  const passes: RunEvent[][] = [[]]
  for (const event of events) {
    if (event.type === 'block:rerouted') {
      if (event.data.reset.includes(id)) passes.push([])
    } else if (event.block_id === id && event.item === item) passes.at(-1)?.push(event)
  }
  return passes
}

/**
 * A bounce follows a failure of its gate, is numbered without gap up to its limit, and takes only blocks that have ended
 * with all that stands between; a failure that is due is never left as it is, unless the run is ended from outside.
 */
export function bounceProblems(
  events: readonly RunEvent[],
  blocks: readonly PlannedBlock[],
  fail_fast: boolean,
): readonly string[] {
  const bounces = events.flatMap((event) => (event.type === 'block:rerouted' ? [event] : []))
  const end = events.at(-1)
  return [
    ...(end?.type === 'run:failed' && end.data.code === 'unfinished_block' ? [end.data.reason] : []),
    ...bounces.flatMap((event) => resetProblems(events.slice(0, event.seq - 1), event, blocks)),
    ...blocks.flatMap((block) => countProblems(block, bounces)),
    // Without it only `_settle` gives a run these ends, when no module has anything to send back.
    ...(fail_fast ? [] : blocks.flatMap((block) => dueProblems(events, block, bounces))),
  ]
}

function resetProblems(
  before: readonly RunEvent[],
  { seq, block_id = '', data }: Rerouted,
  blocks: readonly PlannedBlock[],
): readonly string[] {
  const wrong: string[] = []
  if (passesOf(before, block_id).at(-1)?.at(-1)?.type !== 'block:failed') wrong.push(`rerouted (${seq}): no failure`)
  if (!data.reset.includes(data.to) || !data.reset.includes(block_id)) wrong.push(`rerouted (${seq}): not its ends`)
  for (const id of data.reset) {
    const last = passesOf(before, id).at(-1)?.at(-1)?.type ?? 'nothing'
    if (!['block:completed', 'block:failed', 'block:skipped', 'nothing'].includes(last)) {
      wrong.push(`rerouted (${seq}): ${id} was at ${last}`)
    }
    const between = blocks.filter(({ upstream }) => upstream.includes(id)).map((one) => one.id)
    const left = between.filter((other) => leadsTo(other, block_id, blocks) && !data.reset.includes(other))
    if (left.length > 0) wrong.push(`rerouted (${seq}): ${left.join(', ')} between, and not reset`)
  }
  return wrong
}

function leadsTo(from: string, to: string, blocks: readonly PlannedBlock[]): boolean {
  if (from === to) return true
  return blocks.filter(({ upstream }) => upstream.includes(from)).some(({ id }) => leadsTo(id, to, blocks))
}

function countProblems({ id, bounce }: PlannedBlock, bounces: readonly Rerouted[]): readonly string[] {
  const counts = bounces.filter(({ block_id }) => block_id === id).map(({ data }) => data.bounce)
  const wrong: string[] = []
  if (counts.some((count, i) => count !== i + 1)) wrong.push(`${id}: bounces are numbered ${counts.join(' ')}`)
  if (counts.length > (bounce?.max ?? 0)) wrong.push(`${id}: ${counts.length} bounces of ${bounce?.max ?? 0}`)
  return wrong
}

function dueProblems(
  events: readonly RunEvent[],
  { id, bounce }: PlannedBlock,
  bounces: readonly Rerouted[],
): readonly string[] {
  if (bounce === undefined || !['run:completed', 'run:failed'].includes(events.at(-1)?.type ?? '')) return []
  const count = bounces.filter(({ block_id }) => block_id === id).length
  if (count >= bounce.max || !failedGate(passesOf(events, id).at(-1) ?? [], bounce.gate ?? 'g0')) return []
  return [`${id}: left failed after ${count} of ${bounce.max} bounces`]
}

/** Whether the gate the rule looks at did not hold in the attempt that failed for good. */
function failedGate(pass: readonly RunEvent[], gate: string): boolean {
  const end = pass.at(-1)
  if (end?.type !== 'block:failed') return false
  return pass.some((event) => {
    return (
      event.type === 'block:gate' &&
      event.attempt === end.attempt &&
      event.data.gate === gate &&
      event.data.status !== 'passed'
    )
  })
}
