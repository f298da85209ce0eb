import { Fault } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { StoredValue } from '../../shared/runs/event.ts'
import { foreachList } from '../../shared/runs/foreach.ts'
import { itemsNow } from '../../shared/runs/head.ts'
import { laneKey, type Outcome, readOrdinal } from '../../shared/runs/lane.ts'
import type { BlockProjection } from '../../shared/runs/run-store-items.ts'
import { sha256 } from '../../shared/text/hash.ts'
import { canonicalJson, type Json } from '../../shared/text/json.ts'
import { shortRedacted } from '../../shared/text/short-text.ts'
import { readPortValues, recoverProjection } from '../record/projections.ts'
import { type AttemptEnd, type Failure, type Produced, toFailure } from './attempt-outcome.ts'
import { type BlockCall, type BlockInputs, isStale, mostFailedItems, readHead } from './block-call.ts'
import { type BlockReport, reportAwaitingBounce, reportBlock, reportRecorded } from './block-report.ts'
import { claimAttempt, findNextAttempt, type OpenAttempt } from './claim.ts'
import { finishAttempt, skipBlock } from './end.ts'
import { type BegunItems, begunItems, readStoredInputs, storeInputs } from './inputs.ts'
import { judgeProduced } from './judge-gates.ts'
import { openMeter } from './meter.ts'
import { askUnlessOver, type PreparedAttempt, prepareAttempt } from './prepare.ts'
import { endFromCache } from './reuse.ts'
import { endLostForGood } from './try-block.ts'

interface Opened {
  readonly report: BlockReport
  /** How many items the machine has to run. */
  readonly count: number
}

/**
 * `_items_<id>` of a foreach block: `when` and pre-gates of the whole, then its list. block:started says how many items
 * begin; it takes no slot of max_parallel, each item does. Repeated, it answers what was begun.
 */
export async function openItems(call: BlockCall, undecided: boolean, signal: AbortSignal | undefined): Promise<Opened> {
  const begun = await begunItems(call)
  if (begun !== undefined) return { report: itemsRunning(call, begun.attempt), count: begun.count }
  const open = await findNextAttempt(call)
  if (open === 'lost_for_good') return noItems(await endLostForGood(call))
  call.world.log.note?.({ attempt: open.attempt, epoch: call.epoch })
  const ready = await listItems(call, open.attempt)
  if (ready.unwanted === true) return noItems(await skipBlock(call, { because: [], condition: 'when' }))
  if (undecided) await askUnlessOver(call, ready)
  const end = ready.taken ?? (await endWithoutItems(call, open, ready))
  if (end !== undefined) return noItems(await claimAndEnd(call, open, ready, end, signal))
  if ((await claimAttempt(call, open, ready, signal)) === 'ended') return noItems(reportRecorded(call))
  return { report: itemsRunning(call, open.attempt), count: ready.items?.count ?? 0 }
}

/** How the block ends without its items: as it is wrong, or as a kept result has it. */
async function endWithoutItems(
  call: BlockCall,
  { attempt, failure: before }: OpenAttempt,
  { failure, hash, values }: PreparedAttempt,
): Promise<AttemptEnd | undefined> {
  if (failure !== undefined) return { attempt, verdicts: [], gate_events: [], failure }
  return endFromCache(call, { attempt, inputs_hash: hash, values, feedback: before?.feedback ?? [] })
}

async function claimAndEnd(
  call: BlockCall,
  open: OpenAttempt,
  ready: PreparedAttempt,
  end: AttemptEnd,
  signal: AbortSignal | undefined,
): Promise<BlockReport> {
  const { items: _, ...whole } = ready
  if ((await claimAttempt(call, open, whole, signal)) === 'ended') return reportRecorded(call)
  return finishAttempt(call, end, { inputs_hash: ready.hash, inputs: ready, before: ready.pre.verdicts })
}

function itemsRunning(call: BlockCall, attempt: number): BlockReport {
  return reportBlock(call, { state: 'running', attempt, seq: call.head.seq, verdicts: [] })
}

function noItems(report: BlockReport): Opened {
  return { report, count: 0 }
}

/** A prepared attempt of a foreach block with its list counted and its inputs stored; what is wrong is its failure. */
async function listItems(call: BlockCall, attempt: number): Promise<PreparedAttempt> {
  const ready = await prepareAttempt(call, attempt)
  const { foreach } = call.block
  if (ready.failure !== undefined || ready.unwanted === true || foreach === undefined) return ready
  const list = foreachList(foreach, ready.values)
  const failure = listFailure(call, list)
  if (failure !== undefined || !Array.isArray(list)) return { ...ready, ...(failure === undefined ? {} : { failure }) }
  return { ...ready, items: { count: list.length, inputs_ref: await storeInputs(call, ready) } }
}

function listFailure({ block }: BlockCall, list: Json | undefined): Failure | undefined {
  const place = `foreach.items of block "${block.id}"`
  if (!Array.isArray(list)) {
    const seen = list === undefined ? 'has no value' : `is ${list === null ? 'null' : typeof list}`
    return listFailed('items_not_a_list', `${place} ${seen}; it must be a list`)
  }
  if (list.length <= LIMITS.foreach_items) return undefined
  return listFailed('too_many_items', `${place} has ${list.length} items; at most ${LIMITS.foreach_items} are allowed`)
}

function listFailed(code: string, reason: string): Failure {
  return { code, reason, retry: false, feedback: [] }
}

/**
 * `_close_<id>` of a foreach block: outputs of all items as lists -> post-gates -> publish; the lanes of the items leave
 * HEAD with it. Items that never began leave nothing to close.
 */
export async function closeItems(call: BlockCall): Promise<BlockReport> {
  const begun = await begunItems(call)
  if (begun === undefined) return reportAwaitingBounce(call)
  call.world.log.note?.({ attempt: begun.attempt, epoch: call.epoch })
  const { values } = await readStoredInputs(call, begun.inputs_ref)
  const end = await judgeItems(call, begun, values)
  return finishAttempt(call, end, { inputs_hash: sha256(canonicalJson(values)), before: [] })
}

/**
 * A block that cannot succeed any more, since more items have failed than it tolerates, fails as soon as none is at work:
 * those that have not begun, or wait for another try, are never dispatched (docs/adr/0069). Called by an item; its machine
 * goes on to `_close_<id>`, which finds the block ended.
 */
export async function failOfItems(call: BlockCall): Promise<void> {
  const { world, run, dag, block, epoch } = call
  const most = mostFailedItems(call)
  const whole = dag.blocks[block.index]
  const head = most === undefined ? undefined : await world.runs.head(run)
  if (most === undefined || whole === undefined || head?.state !== 'running') return
  const { failed, at_work } = itemsNow(head, block.index, epoch)
  if (failed <= most || at_work > 0) return
  const lane_key = laneKey({ block: block.index })
  const now = await readHead({ ...call, block: whole, item: undefined, lane_key, meter: openMeter() })
  if (!isStale(now)) await closeItems(now)
}

/** How a foreach block ended whose items have: too many failures, else its lists against its post-gates. */
async function judgeItems(call: BlockCall, begun: BegunItems, inputs: BlockInputs['values']): Promise<AttemptEnd> {
  const { attempt } = begun
  try {
    const ends = await readItems(call, begun)
    const failure = itemsFailed(call, ends)
    if (failure !== undefined) return { attempt, verdicts: [], gate_events: [], failure }
    const latency_ms = Math.max(0, call.world.clock.now() - Date.parse(begun.since))
    const end = await judgeProduced(call, attempt, inputs, await listsOf(call, ends), latency_ms)
    // Another try would run no item again: what failed here stays so.
    return end.failure === undefined ? end : { ...end, failure: { ...end.failure, retry: false } }
  } catch (error) {
    if (error instanceof Fault && error.name === 'Unavailable') throw error
    return { attempt, verdicts: [], gate_events: [], failure: { ...toFailure(call, error), retry: false } }
  }
}

/** Items whose failure the reason names. */
const NAMED = 5

function itemsFailed({ block }: BlockCall, ends: readonly ItemEnd[]): Failure | undefined {
  const { tolerate = 0, fail_fast = false } = block.foreach ?? {}
  const isLeft = fail_fast && ends.filter(({ outcome }) => outcome === 'failed').length > tolerate
  const failed = ends.filter(({ outcome }) => outcome !== 'completed' && !(isLeft && outcome === undefined))
  if (failed.length <= tolerate) return undefined
  const named = failed.slice(0, NAMED).map(({ item, why }) => `item ${item}: ${why}`)
  const more = failed.length > NAMED ? `; and ${failed.length - NAMED} more` : ''
  const left = isLeft ? leftWords(ends.filter(({ outcome }) => outcome === undefined)) : ''
  const counts = `${failed.length} of ${ends.length} items failed, tolerated are ${tolerate}`
  const reason = `${counts}${left}: ${named.join('; ')}${more}`
  return {
    code: 'items_failed',
    reason: shortRedacted(reason),
    retry: false,
    feedback: named.map((line) => shortRedacted(line)),
  }
}

/** Of the items that are not dispatched any more: how many never were, and how many were and had another try before them. */
function leftWords(left: readonly ItemEnd[]): string {
  const unbegun = left.filter(({ begun }) => !begun).length
  const [never, again] = [
    unbegun === 0 ? [] : [`${unbegun} were not begun`],
    left.length === unbegun ? [] : [`${left.length - unbegun} were not tried again`],
  ]
  return [...never, ...again].map((words) => `, ${words}`).join('')
}

/** How many items' outputs are read at once. */
const READ_AT_ONCE = 40

/** Each output as a list in item order: null where a failed item is tolerated, or one gave nothing for a port. */
async function listsOf({ world, run, block }: BlockCall, ends: readonly ItemEnd[]): Promise<Produced> {
  const made: Readonly<Record<string, Json>>[] = []
  for (let i = 0; i < ends.length; i += READ_AT_ONCE) {
    const some = ends.slice(i, i + READ_AT_ONCE)
    made.push(...(await Promise.all(some.map(({ outputs }) => readPortValues(world, run.tenant, outputs)))))
  }
  const ports = Object.keys(block.outputs)
  const values = Object.fromEntries(ports.map((port) => [port, made.map((outputs) => outputs[port] ?? null)]))
  return { values, problems: [], facts: itemsFacts(ends) }
}

/** The items' own events hold what they cost. */
function itemsFacts(ends: readonly ItemEnd[]): Produced['facts'] {
  const failed = ends.filter(({ outcome }) => outcome !== 'completed').length
  const hash = sha256('')
  return {
    provider: 'foreach',
    model: 'items',
    params_hash: hash,
    prompt_hash: hash,
    tokens_in: 0,
    tokens_out: 0,
    finish_reason: 'stop',
    note: `${ends.length} items${failed === 0 ? '' : `, ${failed} failed`}`,
  }
}

/** How one item of a foreach block ended. */
interface ItemEnd {
  readonly item: number
  /** undefined: it was not dispatched any more, or its machine state ended without a record of it. */
  readonly outcome: Outcome | undefined
  /** It has been at work. */
  readonly begun: boolean
  /** Empty unless it completed. */
  readonly outputs: Readonly<Record<string, StoredValue>>
  /** Why it did not complete. */
  readonly why: string
}

/** The ends of all items, in item order. HEAD decides: a projection behind its lane is made again from the events. */
async function readItems(call: BlockCall, { count }: BegunItems): Promise<readonly ItemEnd[]> {
  const { world, run, block, epoch } = call
  const items = Array.from({ length: count }, (_, item) => item)
  const keys = items.map((item) => laneKey({ block: block.index, item }))
  const lanes = (await world.runs.head(run, keys))?.lanes ?? {}
  const found = new Map((await world.runs.itemProjections(run, block.index)).map((one) => [one.item, one]))
  const ends: ItemEnd[] = []
  for (const [item, key] of keys.entries()) {
    const lane = lanes[key] ?? 0
    const place = readOrdinal(lane)
    const outcome = place.epoch === epoch ? place.outcome : undefined
    const seen = found.get(item)
    const isNew = seen !== undefined && seen.ordinal >= lane
    const projection = isNew || outcome === undefined ? seen : await recoverItem(call, item, lane)
    ends.push(itemEnd({ item, outcome, begun: place.epoch === epoch && place.phase > 0 }, projection))
  }
  return ends
}

async function recoverItem({ world, run, block }: BlockCall, item: number, lane: number): Promise<BlockProjection> {
  const recovered = await recoverProjection(world, run, { block: block.index, item }, lane)
  await world.runs.putProjection(run, recovered)
  return recovered
}

function itemEnd(known: Pick<ItemEnd, 'item' | 'outcome' | 'begun'>, projection: BlockProjection | undefined): ItemEnd {
  const { outcome } = known
  if (outcome === 'completed') return { ...known, outputs: projection?.outputs ?? {}, why: '' }
  const why = outcome === undefined ? 'it did not end' : (projection?.failure?.reason ?? 'its record names no reason')
  return { ...known, outputs: {}, why }
}
