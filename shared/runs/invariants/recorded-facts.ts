import { canonicalJson, type Json, sha256 } from '../../canonical.ts'
import type { Block } from '../../dag/dag.ts'
import type { GateFacts } from '../../gates/gate.ts'
import type { EventData, RunEvent, StoredValue } from '../event.ts'
import { foreachList } from '../foreach-items.ts'
import { resolveInputs } from '../resolve-inputs.ts'
import { beginsItems } from './item-ends.ts'
import { endOf, type Pass, passesOf } from './passes.ts'
import type { RunParts } from './stored-run.ts'

type Parts = Pick<RunParts, 'events' | 'dag' | 'meta' | 'context' | 'read'>
type Values = Readonly<Record<string, Json>>

/** What the gates of one attempt looked at. `unknown`: the context was patched since, or an object is gone (21 says so). */
export type RecordedFacts =
  | { readonly kind: 'known'; readonly pre: GateFacts; readonly post: GateFacts }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'wrong'; readonly problem: string }

export async function recordedFacts(
  run: Parts,
  pass: Pass,
  block: Block,
  attempt: number | undefined,
): Promise<RecordedFacts> {
  const started = pass.events.find((event) => event.type === 'block:started' && event.attempt === attempt)
  if (started?.type !== 'block:started') return { kind: 'unknown' }
  const inputs = await inputsOf(run, pass, block, started)
  if (inputs === undefined) return { kind: 'unknown' }
  if (sha256(canonicalJson(inputs)) !== started.data.inputs_hash) {
    if (run.context.version !== started.data.context_version) return { kind: 'unknown' }
    return { kind: 'wrong', problem: `attempt ${attempt} did not work with these inputs (event ${started.seq})` }
  }
  const output = pass.events.find((event) => event.type === 'block:output' && event.attempt === attempt)
  const outputs = output?.type === 'block:output' ? await valuesOf(run, output.data.outputs) : {}
  if (outputs === undefined) return { kind: 'unknown' }
  const pre = { inputs, outputs: {}, measured: { cost_usd: null, latency_ms: null } }
  const post = { inputs, outputs, ...answerOf(block, output?.type === 'block:output' ? output.data : undefined) }
  return { kind: 'known', pre, post }
}

/** As they were at the start of the attempt: of a foreach block and its items they are stored, else resolved again. */
async function inputsOf(run: Parts, pass: Pass, block: Block, started: RunEvent): Promise<Values | undefined> {
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

async function resolvedInputs(run: Parts, pass: Pass, block: Block, started: RunEvent): Promise<Values | undefined> {
  const wired = new Set(Object.values(block.inputs).flatMap(({ from }) => (from === undefined ? [] : [from.block])))
  const upstream: Record<string, Values> = {}
  for (const id of wired) {
    const published = publishedBy(run.events, id, started.seq)
    const values = published === undefined ? undefined : await valuesOf(run, published)
    if (published !== undefined && values === undefined) return undefined
    if (values !== undefined) upstream[id] = values
  }
  const { overrides } = run.meta
  const edits = await editsOf(run, pass, started)
  if (edits === undefined) return undefined
  return resolveInputs(run.dag, block, { overrides, upstream, context: run.context.values, edits }).values
}

/** What the person who approved the work, before it began, changed; undefined = it is gone. */
async function editsOf(run: Parts, { events }: Pass, { seq }: RunEvent): Promise<Values | undefined> {
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

async function valuesOf(run: Parts, stored: Readonly<Record<string, StoredValue>>): Promise<Values | undefined> {
  const values: Record<string, Json> = {}
  for (const [port, { ref }] of Object.entries(stored)) {
    const value = await readJson(run, ref)
    if (value === undefined) return undefined
    values[port] = value
  }
  return values
}

async function readJson({ read }: Parts, ref: string): Promise<Json | undefined> {
  const body = await read(ref)
  return body === undefined ? undefined : (JSON.parse(Buffer.from(body).toString('utf8')) as Json)
}

function answerOf(block: Block, output: EventData<'block:output'> | undefined): Pick<GateFacts, 'measured' | 'answer'> {
  if (output === undefined) return { measured: { cost_usd: null, latency_ms: null } }
  const { usd_micros, latency_ms, tokens_in, tokens_out, provider, model, finish_reason } = output
  const cost_usd = usd_micros === undefined ? null : usd_micros / 1_000_000
  const measured = { cost_usd, latency_ms, tokens: tokens_in + tokens_out }
  return { measured, ...(block.mode === 'ai' ? { answer: { provider, model, finish_reason } } : {}) }
}
