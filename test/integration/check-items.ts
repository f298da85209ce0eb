import type { RunEvent } from '../../shared/runs/event.ts'
import { passesOf } from './check-bounces.ts'
import { attemptProblems, moveProblems } from './check-lane.ts'
import type { PlannedBlock } from './random-runs.ts'

/**
 * Items of a fan-out: each has its own lane from the start of its block to its end, ends once, and their failures decide
 * how the block ends.
 */
export function itemProblems(events: readonly RunEvent[], block: PlannedBlock): readonly string[] {
  const { id, items } = block
  if (items === undefined)
    return events.some((event) => event.block_id === id && event.item !== undefined) ? ['items'] : []
  return passesOf(events, id).flatMap((pass, k) => {
    const lanes = Array.from({ length: items.count }, (_, item) => passesOf(events, id, item)[k] ?? [])
    const own = lanes.flatMap((lane, item) =>
      [...moveProblems(lane, 'ready'), ...attemptProblems(lane, block.tries)].map(
        (problem) => `item ${item}: ${problem}`,
      ),
    )
    return [...own, ...spanProblems(pass, lanes), ...endProblems(pass, lanes, items.tolerate)]
  })
}

/** Nothing of an item before its block began or after it ended. */
function spanProblems(pass: readonly RunEvent[], lanes: readonly (readonly RunEvent[])[]): readonly string[] {
  const from = pass.find(({ type }) => type === 'block:started')?.seq ?? Number.POSITIVE_INFINITY
  const to = endOf(pass)?.seq ?? Number.POSITIVE_INFINITY
  const outside = lanes.flat().filter(({ seq }) => seq < from || seq > to)
  return outside.map(({ seq }) => `event ${seq} of an item outside of its block`)
}

function endProblems(
  pass: readonly RunEvent[],
  lanes: readonly (readonly RunEvent[])[],
  tolerate: number,
): readonly string[] {
  const end = endOf(pass)
  const failed = lanes.filter((lane) => endOf(lane)?.type === 'block:failed').length
  if (end?.type === 'block:completed') {
    const open = lanes.filter((lane) => endOf(lane) === undefined).length
    return open === 0 && failed <= tolerate ? [] : [`completed with ${open} items open and ${failed} failed`]
  }
  const isByItems = end?.type === 'block:failed' && end.data.code === 'items_failed'
  return isByItems && failed <= tolerate ? [`failed though ${failed} of ${tolerate} tolerated items failed`] : []
}

function endOf(lane: readonly RunEvent[]): RunEvent | undefined {
  return lane.find(({ type }) => ['block:completed', 'block:failed', 'block:skipped'].includes(type))
}
