import { type Block, CALLBACK_URL, isKnownOutput } from '../../shared/dag/dag.ts'
import { Fault } from '../../shared/errors.ts'
import { resolveInputs } from '../../shared/runs/block-inputs.ts'
import { callbackToken } from '../../shared/runs/callback-address.ts'
import { foreachList } from '../../shared/runs/foreach.ts'
import { blockEpoch, blockOrdinal, blockOutcome } from '../../shared/runs/head.ts'
import { approvalId } from '../../shared/runs/ids.ts'
import { PHASE, readOrdinal } from '../../shared/runs/lane.ts'
import type { ForeachItems } from '../../shared/runs/run-store-items.ts'
import { canonicalJson, type Json } from '../../shared/text/json.ts'
import { readPortValues, readProjections } from '../record/projections.ts'
import type { BlockCall, BlockInputs, DecisionUsed, OpenQuestion } from './block-call.ts'
import { contextBoundByDecisions } from './decision-binding.ts'

/**
 * Resolves the block's inputs from overrides, upstream outputs and the run's context; once it was asked about they stay, and
 * behind a decision the context is the one that decision bound.
 */
async function resolveBlockInputs(call: BlockCall): Promise<BlockInputs> {
  const { inputs: approved, edits } = await approvedInputs(call)
  if (approved !== undefined) return approved
  const { world, run, meta, dag, block } = call
  const upstream = await readUpstream(call)
  const stored = await world.runs.context(run)
  const { context, decisions, stale } = await contextBoundByDecisions(call, stored?.values ?? {})
  const sources = { overrides: meta.overrides, upstream, context, edits }
  return {
    ...resolveInputs(dag, block, sources),
    context_version: stored?.version ?? 0,
    ...(decisions.length === 0 ? {} : { decisions }),
    ...(decisions.length > MOST_TOLD ? { decisions_ref: await storeDecisions(call, decisions) } : {}),
    ...(stale === undefined ? {} : { stale }),
  }
}

/** An event has 1 KiB in all. */
const MOST_TOLD = 3

async function storeDecisions({ world, run }: BlockCall, decisions: readonly DecisionUsed[]): Promise<string> {
  const { ref } = await world.objects.put(run.tenant, Buffer.from(canonicalJson(decisions as unknown as Json)))
  return ref
}

async function readUpstream(call: BlockCall) {
  const { world, run, index, block, head } = call
  const wired = new Set(Object.values(block.inputs).flatMap(({ from }) => (from === undefined ? [] : [from.block])))
  const completed = [...wired].filter((id) => blockOutcome(call, head, id) === 'completed')
  const sources = completed.map((id) => ({ id, at: index.get(id) ?? -1 }))
  const lanes = new Map(sources.map(({ id, at }) => [at, blockOrdinal(call, head, id) ?? 0]))
  const projections = await readProjections(world, run, lanes)
  const upstream: Record<string, Readonly<Record<string, Json>>> = { ...(await knownOutputs(call)) }
  for (const { id, at } of sources) {
    upstream[id] = { ...upstream[id], ...(await readPortValues(world, run.tenant, projections.get(at)?.outputs ?? {})) }
  }
  return upstream
}

/** Addresses of callbacks that are wired into the block: each follows from run, block and epoch, and is known before its wait is. */
async function knownOutputs(call: BlockCall): Promise<Readonly<Record<string, Readonly<Record<string, Json>>>>> {
  const { dag, index, block } = call
  const found: Record<string, Readonly<Record<string, Json>>> = {}
  for (const { from } of Object.values(block.inputs)) {
    const source = from === undefined ? undefined : dag.blocks[index.get(from.block) ?? -1]
    if (from === undefined || source === undefined || !isKnownOutput(source, from.output)) continue
    found[source.id] = { [CALLBACK_URL]: await callbackUrl(call, source) }
  }
  return found
}

async function callbackUrl(call: BlockCall, source: Block): Promise<string> {
  const { world, run } = call
  const address = world.waits.address()
  if (address === undefined) {
    const message = `Cannot tell block "${call.block.id}" the address of the callback of "${source.id}": nobody has said where others reach this place. Set public_url in sluice.yaml.`
    throw new Fault('InvalidInput', 'no_public_address', message)
  }
  const place = { ...run, block: source.index, epoch: blockEpoch(call, call.head, source.id) }
  return `${address}/api/callbacks/${callbackToken(await world.waits.signingKey(run.tenant), place)}`
}

interface Approved {
  /** Undefined: nobody was asked, or the question is of an earlier version, which kept no inputs. */
  readonly inputs: BlockInputs | undefined
  readonly edits: Readonly<Record<string, Json>>
}

/**
 * What a block works with that a person is, or was, asked about in this epoch: the inputs they were asked about, with
 * what the approver changed over them. A context that is patched meanwhile moves nothing.
 */
async function approvedInputs(call: BlockCall): Promise<Approved> {
  const { world, run, block, head, epoch } = call
  if (block.approval === undefined) return { inputs: undefined, edits: {} }
  const id = approvalId(run.run_id, block.index, epoch)
  const approval = head.approvals[id]
  if (approval === undefined) return { inputs: undefined, edits: {} }
  const edits = await approvedEdits(call)
  const { inputs_ref, digest } = (await world.runs.approval(run, id)) ?? {}
  if (inputs_ref === undefined || digest !== approval.digest) return { inputs: undefined, edits }
  const inputs = await readStoredInputs(call, inputs_ref)
  return { inputs: { ...inputs, values: { ...inputs.values, ...edits } }, edits }
}

/** The inputs that the person who approved this block changed; they were checked when they decided. */
export async function approvedEdits({
  world,
  run,
  block,
  head,
  epoch,
}: BlockCall): Promise<Readonly<Record<string, Json>>> {
  const { status, edits_ref } = head.approvals[approvalId(run.run_id, block.index, epoch)] ?? {}
  if (status !== 'approved' || edits_ref === undefined) return {}
  return JSON.parse(Buffer.from(await world.objects.get(run.tenant, edits_ref)).toString('utf8'))
}

/** What items begin with is stored: a context patched later does not move the list under them. */
export async function storeInputs({ storage, run }: BlockCall, inputs: BlockInputs): Promise<string> {
  const { values, context_version } = inputs
  const { ref } = await storage.bounded.objects.put(run.tenant, Buffer.from(canonicalJson({ values, context_version })))
  return ref
}

/** What `storeInputs` wrote: the resolved inputs of a foreach block. */
export async function readStoredInputs({ world, run }: BlockCall, ref: string): Promise<BlockInputs> {
  const text = Buffer.from(await world.objects.get(run.tenant, ref)).toString('utf8')
  const stored = JSON.parse(text) as Pick<BlockInputs, 'values' | 'context_version'>
  return { ...stored, problems: [] }
}

/** The inputs of one item: those of its block, and the item itself. */
async function itemInputs(call: BlockCall): Promise<BlockInputs> {
  const { dag, block, item = -1, acting } = call
  if (acting?.call !== undefined) return { values: acting.call.args, problems: [], context_version: 0 }
  const begun = await begunItems(call)
  if (acting !== undefined && begun !== undefined) return readStoredInputs(call, begun.inputs_ref)
  const foreach = dag.blocks[block.index]?.foreach
  if (begun === undefined || foreach === undefined) throw notThere(call)
  const inputs = await readStoredInputs(call, begun.inputs_ref)
  const list = foreachList(foreach, inputs.values)
  const value = Array.isArray(list) ? list[item] : undefined
  if (value === undefined) throw notThere(call)
  return { ...inputs, values: { ...inputs.values, [foreach.as]: value } }
}

function notThere({ block, item }: BlockCall): Fault {
  const message = `Machine and store differ: block "${block.id}" has no item ${item} at work.`
  return new Fault('Bug', 'no_such_item', message)
}

/** Items at work: of which attempt of their block, and what they were begun with. */
export interface BegunItems extends ForeachItems {
  readonly attempt: number
}

/** The items of a foreach block from their opening to the block's end; undefined before and after. */
export async function begunItems(call: BlockCall): Promise<BegunItems | undefined> {
  const { world, run, block, head } = call
  const lane = blockOrdinal(call, head, block.id)
  if (lane === undefined || !mayHaveItems(call)) return undefined
  const projection = (await readProjections(world, run, new Map([[block.index, lane]]))).get(block.index)
  return projection?.items === undefined ? undefined : { ...projection.items, attempt: projection.attempt }
}

/**
 * What HEAD alone tells: the verdicts of pre-gates are written before items begin, so its lane stands past them; an
 * attempt that goes on after a question writes them with that.
 */
export function mayHaveItems(call: BlockCall): boolean {
  const { dag, block, head } = call
  const gates = dag.blocks[block.index]?.pre_gates.length ?? 0
  const { leg, phase } = readOrdinal(blockOrdinal(call, head, block.id) ?? 0)
  if (leg > 0) return phase === PHASE.claimed
  return phase === (gates > 0 ? PHASE.claimed + 9 : PHASE.claimed)
}

function inputsNow(call: BlockCall): Promise<BlockInputs> {
  return call.item === undefined ? resolveBlockInputs(call) : itemInputs(call)
}

/** The inputs of an attempt a person was asked about. */
export function askedInputs(call: BlockCall, { inputs_ref, projection }: OpenQuestion): Promise<BlockInputs> {
  const ref = call.item === undefined ? (inputs_ref ?? projection.items?.inputs_ref) : undefined
  return ref === undefined ? inputsNow(call) : readStoredInputs(call, ref)
}

/** What an attempt works with: one that a person let go on, with what it had when it was asked about. */
export function attemptInputs(call: BlockCall): Promise<BlockInputs> {
  return call.resumed === undefined ? inputsNow(call) : askedInputs(call, call.resumed.ask)
}
