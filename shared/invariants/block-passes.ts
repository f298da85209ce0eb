import type { Block, Foreach } from '../dag/dag.ts'
import type { EventData, RunEvent } from '../runs/event.ts'

/** One life of a block, or of an item of a foreach block: from the start of the run or a bounce to the next bounce. */
export interface Pass {
  readonly block_id: string
  readonly item?: number
  readonly epoch: number
  readonly events: readonly RunEvent[]
}

/** The passes in which anything happened, in the order of their first events; linear. */
export function passesOf(events: readonly RunEvent[]): readonly Pass[] {
  const known = KEPT.get(events)
  if (known !== undefined) return known
  const epochs = new Map<string, number>()
  const passes = new Map<string, Pass & { readonly events: RunEvent[] }>()
  for (const event of events) {
    if (event.type === 'block:rerouted') raiseEpochs(epochs, event.data)
    else if (event.block_id !== undefined) addEvent(passes, event, event.block_id, epochs.get(event.block_id) ?? 0)
  }
  const all = [...passes.values()]
  KEPT.set(events, all)
  return all
}

function raiseEpochs(epochs: Map<string, number>, { reset, epoch }: EventData<'block:rerouted'>): void {
  for (const id of reset) epochs.set(id, Math.max(epoch, epochs.get(id) ?? 0))
}

function addEvent(
  passes: Map<string, Pass & { readonly events: RunEvent[] }>,
  event: RunEvent,
  block_id: string,
  epoch: number,
): void {
  const { item } = event
  const key = `${epoch}/${item ?? ''}/${block_id}`
  const pass = passes.get(key) ?? { block_id, ...(item === undefined ? {} : { item }), epoch, events: [] }
  pass.events.push(event)
  passes.set(key, pass)
}

/** Several checks ask for the passes of one log. */
const KEPT = new WeakMap<object, readonly Pass[]>()

/** `block "build"`, `item 3 of block "build"`. */
export function passName({ block_id, item }: Pick<Pass, 'block_id' | 'item'>): string {
  return item === undefined ? `block "${block_id}"` : `item ${item} of block "${block_id}"`
}

/** How a pass ended; undefined while it has not. */
export function passEnd({ events }: Pick<Pass, 'events'>): RunEvent | undefined {
  return events.find(({ type }) => ENDS.has(type))
}

const ENDS: ReadonlySet<string> = new Set(['block:completed', 'block:failed', 'block:skipped', 'block:cancelled'])

/**
 * A foreach block completes when all its items have ended, and fails by them only past what it tolerates; from there on no
 * item begins, and none is tried again.
 */
export function itemEndProblems(pass: Pass, passes: readonly Pass[], foreach: Lenience): readonly string[] {
  const { tolerate } = foreach
  const begun = pass.events.findLast((event) => beginsItems(event) && event.data.items !== undefined)
  const end = passEnd(pass)
  const items = passes.filter(({ block_id, item, epoch }) => {
    return block_id === pass.block_id && item !== undefined && epoch === pass.epoch
  })
  const late = lateProblems(pass, items, foreach)
  const failed = items.filter(isFailed).length
  if (end?.type === 'block:failed' && end.data.code === 'items_failed' && failed <= tolerate) {
    return [...late, `${passName(pass)}: failed though ${failed} of ${tolerate} tolerated items did (event ${end.seq})`]
  }
  if (end?.type !== 'block:completed' || isTaken(end)) return late
  const count = begun !== undefined && beginsItems(begun) ? (begun.data.items?.count ?? 0) : 0
  const ended = items.filter((item) => passEnd(item) !== undefined).length
  if (ended === count && failed <= tolerate) return late
  return [
    ...late,
    `${passName(pass)}: completed with ${ended} of ${count} items ended, ${failed} failed (event ${end.seq})`,
  ]
}

type Lenience = Pick<Foreach, 'tolerate' | 'fail_fast'>

function isFailed(item: Pass): boolean {
  return passEnd(item)?.type === 'block:failed'
}

/** The store counts in the update that claims, so this holds to the event. */
function lateProblems(pass: Pass, items: readonly Pass[], { tolerate, fail_fast }: Lenience): readonly string[] {
  if (fail_fast !== true) return []
  const failures = items.filter(isFailed).flatMap((item) => passEnd(item)?.seq ?? [])
  const last = failures.toSorted((a, b) => a - b)[tolerate]
  if (last === undefined) return []
  const late = items.flatMap(({ events }) => events.filter((event) => beginsItems(event) && event.seq > last))
  const seqs = late.map(({ seq }) => seq).join(', ')
  return late.length === 0
    ? []
    : [`${passName(pass)}: items begin (events ${seqs}) after too many failed (event ${last})`]
}

/** After a question about its pre-gates a block begins its items when it goes on. */
export function beginsItems(event: RunEvent): event is Extract<RunEvent, { type: 'block:started' | 'block:resumed' }> {
  return event.type === 'block:started' || event.type === 'block:resumed'
}

/** A kept result stands in for the items. */
function isTaken(end: RunEvent): boolean {
  return end.type === 'block:completed' && end.data.cached_from !== undefined
}

/** The blocks that go over a list, by id. */
export function fanOuts(blocks: readonly Block[]): ReadonlyMap<string, Foreach> {
  return new Map(blocks.flatMap(({ id, foreach }) => (foreach === undefined ? [] : [[id, foreach]])))
}
