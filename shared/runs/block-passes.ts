import type { Block, Foreach } from '../dag/dag.ts'
import type { EventData, RunEvent } from './event.ts'

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

/** Those of one block and its items, in the same order: a check that asks for each block of a large run stays linear. */
export function passesOfBlock(events: readonly RunEvent[], block_id: string): readonly Pass[] {
  const passes = passesOf(events)
  const byBlock = KEPT_BY_BLOCK.get(passes) ?? Map.groupBy(passes, (pass) => pass.block_id)
  KEPT_BY_BLOCK.set(passes, byBlock)
  return byBlock.get(block_id) ?? []
}

const KEPT_BY_BLOCK = new WeakMap<object, ReadonlyMap<string, readonly Pass[]>>()

/** `block "build"`, `item 3 of block "build"`. */
export function passName({ block_id, item }: Pick<Pass, 'block_id' | 'item'>): string {
  return item === undefined ? `block "${block_id}"` : `item ${item} of block "${block_id}"`
}

/** How a pass ended; undefined while it has not. */
export function passEnd({ events }: Pick<Pass, 'events'>): RunEvent | undefined {
  return events.find(({ type }) => ENDS.has(type))
}

const ENDS: ReadonlySet<string> = new Set(['block:completed', 'block:failed', 'block:skipped', 'block:cancelled'])

/** After a question about its pre-gates a block begins its items when it goes on. */
export function beginsItems(event: RunEvent): event is Extract<RunEvent, { type: 'block:started' | 'block:resumed' }> {
  return event.type === 'block:started' || event.type === 'block:resumed'
}

/** The blocks that go over a list, by id. */
export function fanOuts(blocks: readonly Block[]): ReadonlyMap<string, Foreach> {
  return new Map(blocks.flatMap(({ id, foreach }) => (foreach === undefined ? [] : [[id, foreach]])))
}
