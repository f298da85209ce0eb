import type { Block } from '../../dag/dag.ts'
import type { RunEvent } from '../event.ts'
import { endOf, nameOf, type Pass } from './passes.ts'

/** A foreach block completes when all its items have ended, and fails by them only past what it tolerates. */
export function itemEndProblems(pass: Pass, passes: readonly Pass[], tolerate: number): readonly string[] {
  const begun = pass.events.findLast((event) => beginsItems(event) && event.data.items !== undefined)
  const end = endOf(pass)
  const items = passes.filter(({ block_id, item, epoch }) => {
    return block_id === pass.block_id && item !== undefined && epoch === pass.epoch
  })
  const failed = items.filter((item) => endOf(item)?.type === 'block:failed').length
  if (end?.type === 'block:failed' && end.data.code === 'items_failed' && failed <= tolerate) {
    return [`${nameOf(pass)}: failed though ${failed} of ${tolerate} tolerated items did (event ${end.seq})`]
  }
  if (end?.type !== 'block:completed' || isTaken(end)) return []
  const count = begun !== undefined && beginsItems(begun) ? (begun.data.items?.count ?? 0) : 0
  const ended = items.filter((item) => endOf(item) !== undefined).length
  if (ended === count && failed <= tolerate) return []
  return [`${nameOf(pass)}: completed with ${ended} of ${count} items ended, ${failed} failed (event ${end.seq})`]
}

/** After a question about its pre-gates a block begins its items when it goes on. */
export function beginsItems(event: RunEvent): event is Extract<RunEvent, { type: 'block:started' | 'block:resumed' }> {
  return event.type === 'block:started' || event.type === 'block:resumed'
}

/** A kept result stands in for the items. */
function isTaken(end: RunEvent): boolean {
  return end.type === 'block:completed' && end.data.cached_from !== undefined
}

/** Ids of the blocks that go over a list, and how many failed items each survives. */
export function toleratedItems(blocks: readonly Block[]): ReadonlyMap<string, number> {
  return new Map(blocks.flatMap(({ id, foreach }) => (foreach === undefined ? [] : [[id, foreach.tolerate]])))
}
