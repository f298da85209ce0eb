import { isActing } from '../agents/agent-items.ts'
import type { Block } from '../dag/dag.ts'
import { resolveInputs } from '../runs/block-inputs.ts'
import { beginsItems, type Pass, passEnd, passesOfBlock } from '../runs/block-passes.ts'
import type { EventData, RunEvent, StoredValue } from '../runs/event.ts'
import { foreachList } from '../runs/foreach.ts'
import type { Json } from '../text/json.ts'
import type { RunParts } from './invariant.ts'

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
  if (isActing(block)) return agentInputs(run, pass, block, started)
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

/** Of a call its arguments; of a turn, or the block itself once it had turns, the inputs that were kept for them. */
async function agentInputs(
  run: RecordedParts,
  pass: Pass,
  block: Block,
  started: RunEvent,
): Promise<Values | undefined> {
  const args = started.type === 'block:started' ? started.data.call?.args_ref : undefined
  const ref = args ?? itemsRef(run.events, pass, started)
  if (ref === undefined) return resolvedInputs(run, pass, block, started)
  return ((await readJson(run, ref)) as { readonly values?: Values } | undefined)?.values
}

function itemsRef(events: readonly RunEvent[], { block_id, epoch }: Pass, started: RunEvent): string | undefined {
  const whole = passesOfBlock(events, block_id).find((one) => one.item === undefined && one.epoch === epoch)
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
  const before = passesOfBlock(events, id).findLast(({ item, events: [first] }) => {
    return item === undefined && (first?.seq ?? seq) < seq
  })
  const end = before === undefined ? undefined : passEnd(before)
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
