import type { Block } from '../dag/dag.ts'
import { foreachList, resolveInputs } from '../runs/block-inputs.ts'
import type { EventData, RunEvent, StoredValue } from '../runs/event.ts'
import type { Json } from '../text/canonical.ts'
import type { RunParts } from './invariant.ts'

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
export function nameOf({ block_id, item }: Pick<Pass, 'block_id' | 'item'>): string {
  return item === undefined ? `block "${block_id}"` : `item ${item} of block "${block_id}"`
}

/** How a pass ended; undefined while it has not. */
export function endOf({ events }: Pick<Pass, 'events'>): RunEvent | undefined {
  return events.find(({ type }) => ENDS.has(type))
}

const ENDS: ReadonlySet<string> = new Set(['block:completed', 'block:failed', 'block:skipped', 'block:cancelled'])

/** What is needed of a stored run to tell what an attempt worked with. */
export type RecordedParts = Pick<RunParts, 'events' | 'dag' | 'meta' | 'context' | 'read'>
type Values = Readonly<Record<string, Json>>

/**
 * What an attempt worked with: of a foreach block and its items that is stored, else it is resolved again out of the
 * context as it is now, so only what has the hash of the attempt's start is known to be it. Undefined = an object is gone.
 */
export async function recordedInputs(
  run: RecordedParts,
  pass: Pass,
  block: Block,
  started: RunEvent,
): Promise<Values | undefined> {
  const { foreach } = block
  const ref = foreach === undefined ? undefined : itemsRef(run.events, pass, started)
  if (foreach === undefined || ref === undefined) return resolvedInputs(run, pass, block, started)
  const stored = await readJson(run, ref)
  const values = (stored as { readonly values?: Values } | undefined)?.values
  if (values === undefined || pass.item === undefined) return values
  const list = foreachList(foreach, values)
  const value = Array.isArray(list) ? list[pass.item] : undefined
  return value === undefined ? undefined : { ...values, [foreach.as]: value }
}

function itemsRef(events: readonly RunEvent[], { block_id, epoch }: Pass, started: RunEvent): string | undefined {
  const whole = passesOf(events).find(
    (one) => one.block_id === block_id && one.item === undefined && one.epoch === epoch,
  )
  const isMeant = ({ seq, attempt }: RunEvent) =>
    started.item === undefined ? attempt === started.attempt : seq <= started.seq
  const begun = whole?.events.findLast((one) => beginsItems(one) && one.data.items !== undefined && isMeant(one))
  return begun !== undefined && beginsItems(begun) ? begun.data.items?.inputs_ref : undefined
}

async function resolvedInputs(
  run: RecordedParts,
  pass: Pass,
  block: Block,
  started: RunEvent,
): Promise<Values | undefined> {
  const wired = new Set(Object.values(block.inputs).flatMap(({ from }) => (from === undefined ? [] : [from.block])))
  const upstream: Record<string, Values> = {}
  for (const id of wired) {
    const published = publishedBy(run.events, id, started.seq)
    const values = published === undefined ? undefined : await recordedValues(run, published)
    if (published !== undefined && values === undefined) return undefined
    if (values !== undefined) upstream[id] = values
  }
  const { overrides } = run.meta
  const edits = await editsOf(run, pass, started)
  if (edits === undefined) return undefined
  return resolveInputs(run.dag, block, { overrides, upstream, context: run.context.values, edits }).values
}

/** What the person who approved the work, before it began, changed; undefined = it is gone. */
async function editsOf(run: RecordedParts, { events }: Pass, { seq }: RunEvent): Promise<Values | undefined> {
  const before = events.filter((one) => one.seq < seq)
  const edited = before.find((one) => one.type === 'approval:decided' && one.data.edits_ref !== undefined)
  const ref = edited?.type === 'approval:decided' ? edited.data.edits_ref : undefined
  return ref === undefined ? {} : ((await readJson(run, ref)) as Values | undefined)
}

/** What a block had published when event `seq` came; undefined = nothing. */
function publishedBy(
  events: readonly RunEvent[],
  id: string,
  seq: number,
): EventData<'block:output'>['outputs'] | undefined {
  const before = passesOf(events).findLast(({ block_id, item, events: [first] }) => {
    return block_id === id && item === undefined && (first?.seq ?? seq) < seq
  })
  const end = before === undefined ? undefined : endOf(before)
  if (before === undefined || end?.type !== 'block:completed' || end.seq > seq) return undefined
  const output = before.events.findLast((one) => one.type === 'block:output' && one.attempt === end.attempt)
  return output?.type === 'block:output' ? output.data.outputs : {}
}

/** Stored values by port; undefined = one is gone. */
export async function recordedValues(
  run: Pick<RecordedParts, 'read'>,
  stored: Readonly<Record<string, StoredValue>>,
): Promise<Values | undefined> {
  const values: Record<string, Json> = {}
  for (const [port, { ref }] of Object.entries(stored)) {
    const value = await readJson(run, ref)
    if (value === undefined) return undefined
    values[port] = value
  }
  return values
}

async function readJson({ read }: Pick<RecordedParts, 'read'>, ref: string): Promise<Json | undefined> {
  const body = await read(ref)
  return body === undefined ? undefined : (JSON.parse(Buffer.from(body).toString('utf8')) as Json)
}

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
function beginsItems(event: RunEvent): event is Extract<RunEvent, { type: 'block:started' | 'block:resumed' }> {
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
