import { laneOwner, ordinal, PHASE } from '../../../shared/runs/lane.ts'
import type { Append } from '../../../shared/runs/run-store.ts'
import type { Layout } from './event-encoding.ts'
import { as, from, type Item } from './item-encoding.ts'
import type { Terms } from './table.ts'

/*
 * Lanes in HEAD. Most blocks of a large run have completed, at their first attempt, and each of their lanes is seven
 * bytes of every write. So lanes of blocks lie in groups of eight by the number of the block, and `packed` is a set of
 * group numbers: a lane of such a group that `lanes` does not have stands at DONE. A spill packs a group when all its
 * lanes are there; one that moves again is written into `lanes`, and what stands there counts (docs/adr/0079).
 */
const GROUP = 8
const DONE = ordinal({ epoch: 0, attempt: 1, phase: PHASE.completed })

type Lanes = Readonly<Record<string, number>>

/** The lanes HEAD, or the part of it that was read, has by name: those of items are beside them. */
export function namedLanes(head: Item): Lanes {
  return numbersOf(from.map(head, 'lanes'))
}

export function itemLanes(head: Item): Lanes {
  const blocks = Object.entries(from.map(head, 'items'))
  return Object.fromEntries(
    blocks.flatMap(([block, { M = {} }]) => Object.entries(numbersOf(M)).map(([i, at]) => [`${block}.${i}`, at])),
  )
}

function numbersOf(map: Item): Lanes {
  return Object.fromEntries(Object.entries(map).map(([key, { N }]) => [key, Number(N)]))
}

export function packedGroups(head: Item): ReadonlySet<number> {
  return new Set((head.packed?.NS ?? []).map(Number))
}

/** Every lane of packed groups, as far as nothing else is said of it by name. */
export function packedLanes(groups: ReadonlySet<number>): Lanes {
  const lanes: Record<string, number> = {}
  for (const group of groups) for (let i = 0; i < GROUP; i += 1) lanes[String(group * GROUP + i)] = DONE
  return lanes
}

/** Where HEAD keeps a lane: `lanes.<lane>`; of a foreach item `items.<block>.<i>`. */
export function lanePath(lane: string): readonly string[] {
  const { block, item } = laneOwner(lane) ?? {}
  return block === undefined || item === undefined ? ['lanes', lane] : [...itemsPath(block), String(item)]
}

/** The map of a block's item lanes: there from `open_items` to `drop_items`. */
export function itemsPath(block: number): readonly string[] {
  return ['items', String(block)]
}

function groupOf(lane: string): number | undefined {
  const { block, item } = laneOwner(lane) ?? {}
  return block === undefined || item !== undefined ? undefined : Math.floor(block / GROUP)
}

/** One part of a condition, whatever is in it: that of a packed lane, which no name says, among it. */
export function laneGuard(
  { path, value }: Terms,
  { lane, guard }: Pick<Append, 'lane' | 'guard'>,
  layout: Layout,
): string {
  const now = path(...lanePath(lane))
  const unnamed = `attribute_not_exists(${now})`
  const group = layout === 1 ? undefined : groupOf(lane)
  const inPacked = () => `contains(${path('packed')}, ${value(as.number(group ?? 0))})`
  if ('below' in guard) {
    const absent = group === undefined || guard.below > DONE ? unnamed : `(${unnamed} AND NOT ${inPacked()})`
    return `(${absent} OR ${now} < ${value(as.number(guard.below))})`
  }
  if (guard.is === null) return group === undefined ? unnamed : `(${unnamed} AND NOT ${inPacked()})`
  const same = `${now} = ${value(as.number(guard.is))}`
  return group === undefined || guard.is !== DONE ? same : `(${same} OR (${unnamed} AND ${inPacked()}))`
}

/** What a trim of HEAD may do besides: pack these groups, of which these lanes are done and named. */
interface Packing {
  readonly groups: readonly number[]
  readonly lanes: readonly string[]
}

/** Lanes of one trim: its expression has 4 KB. */
const MOST_LANES = 32

/** `open`: blocks whose items are open are not packed: an append of an item asks for their lane by name. */
export function packable({
  named,
  packed,
  open,
}: {
  readonly named: Lanes
  readonly packed: ReadonlySet<number>
  readonly open: ReadonlySet<string>
}): Packing {
  const groups: number[] = []
  const lanes: string[] = []
  for (const [group, there] of Map.groupBy(Object.keys(named), groupOf)) {
    if (group === undefined || (!packed.has(group) && there.length < GROUP)) continue
    const done = there.filter((lane) => named[lane] === DONE && !open.has(lane))
    if (done.length === 0 || lanes.length + done.length > MOST_LANES) continue
    if (!packed.has(group)) groups.push(group)
    lanes.push(...done)
  }
  return { groups, lanes }
}

/** The parts of an update that packs, if every lane is still where it was seen. */
export function packingChange({ path, value }: Terms, { groups, lanes }: Packing) {
  const done = lanes.length === 0 ? '' : value(as.number(DONE))
  const paths = lanes.map((lane) => path(...lanePath(lane)))
  return {
    removes: paths,
    adds: groups.length === 0 ? [] : [`${path('packed')} ${value({ NS: groups.map(String) })}`],
    guards: paths.map((lane) => `${lane} = ${done}`),
  }
}
