import type { ApprovalPolicy } from '../../shared/dag/dag.ts'
import { HANDLERS_BEYOND_PORTS, isStepPath } from '../../shared/dag/handlers.ts'
import { isNativeHandler } from '../../shared/dag/native-call.ts'
import { Fault } from '../../shared/errors.ts'
import { ruleThatAllows } from '../../shared/runs/approval.ts'
import { blockEpoch, blockOrdinal, type Head, type HeadApproval } from '../../shared/runs/head.ts'
import { approvalId, childRunId } from '../../shared/runs/ids.ts'
import { readOrdinal } from '../../shared/runs/lane.ts'
import { type People, peopleOf, personOf } from '../../shared/runs/people.ts'
import { childDocumentOf, type Meta, type RunKey } from '../../shared/runs/run-store.ts'
import type { ArtifactItem, BlockProjection, CachedResult } from '../../shared/runs/run-store-items.ts'
import { usedByEvent } from '../../shared/runs/usage-cost.ts'
import { sha256 } from '../../shared/text/hash.ts'
import { canonicalJson, type Json } from '../../shared/text/json.ts'
import { type Pinned, readPinned } from '../record/pinned-run.ts'
import { readPortValues, readProjections, recoverProjection } from '../record/projections.ts'
import { isOverQuota, STORAGE_QUOTA } from '../record/storage-quota.ts'
import type { AttemptEnd, Produced } from './attempt-outcome.ts'
import type { BlockCall } from './block-call.ts'
import { describeQuestion } from './decision-binding.ts'
import { judgeProduced } from './judge-gates.ts'
import { putBackUse } from './meter.ts'

/** Attempt and inputs of a block, or item, that is runnable and not yet dispatched. */
interface OpenInputs extends AttemptInputs {
  readonly attempt: number
}

/**
 * In a retried run: the end of an attempt that a result of the earlier runs stands in for, its post-gates judged again;
 * undefined = the block does its work (docs/adr/0033 has the rules). Asked before the claim, and answered the same by
 * whoever asks: a person is not asked about a block that is taken over. After a bounce nothing is taken over, and nothing
 * of a child run that may ask: it is opened again, and takes over what its own decisions allow.
 * A judge that may not be asked for want of budget leaves its refusal in the meter: as elsewhere, that fails the block.
 */
export async function endFromEarlierRun(call: BlockCall, open: OpenInputs): Promise<AttemptEnd | undefined> {
  // A turn or a call stands in a transcript of its own.
  if (call.acting !== undefined) return undefined
  if (call.meta.retry_of === undefined || call.epoch > 0 || effectBeyondPorts(call) === 'run') return undefined
  if (childDocumentOf(call.block, call.meta.children)?.asks === true) return undefined
  try {
    const found = await earlierResult(call, open)
    return found === undefined ? undefined : await judgedAgain(call, open, found)
  } catch (error) {
    if (!(error instanceof Fault) || error.name === 'Unavailable' || isOverQuota(error)) throw error
    const { run, block, world } = call
    world.log.error('an earlier result could not be taken over', { ...run, block_id: block.id, error: String(error) })
    return undefined
  }
}

async function judgedAgain(
  call: BlockCall,
  { attempt, values }: OpenInputs,
  found: EarlierResult,
): Promise<AttemptEnd | undefined> {
  const produced = await earlierProduct(call, found)
  if (produced === undefined) return undefined
  const end = await judgeProduced(call, attempt, values, produced, 0)
  // Work that is done instead would not fit either.
  if (end.failure !== undefined) return end.failure.code === STORAGE_QUOTA ? withoutOutput(end) : undefined
  const writes = await leavesArtifacts(call, found)
  const took = (writes || call.block.mode === 'ai') && (await takeBlockArtifacts(call, found, attempt))
  // An agent's files are its outputs: without an artifact of its name its ports still hold them.
  if (writes && !took) return undefined
  return { ...end, cached_from: found.run.run_id }
}

/** As it was made, at no cost. */
async function earlierProduct({ world, run }: BlockCall, found: EarlierResult): Promise<Produced | undefined> {
  const { outputs, made } = found.projection
  if (made === undefined) return undefined
  const free = { tokens_in: 0, tokens_out: 0, usd_micros: 0, note: `result of run ${found.run.run_id}` }
  return { values: await readPortValues(world, run.tenant, outputs ?? {}), problems: [], facts: { ...made, ...free } }
}

/** A step may leave some: whether it did shows in the run it is taken from. */
async function leavesArtifacts(call: BlockCall, { run }: EarlierResult): Promise<boolean> {
  const { block, world } = call
  const isOther = block.mode !== 'deterministic' || !(isStepPath(block.handler) || isNativeHandler(block.handler))
  if (isOther) return effectBeyondPorts(call) === 'artifacts'
  return (await world.runs.artifacts(run)).some(({ block_id }) => block_id === block.id)
}

function effectBeyondPorts({ block }: BlockCall): 'artifacts' | 'run' | undefined {
  return block.mode === 'deterministic' ? HANDLERS_BEYOND_PORTS[block.handler] : undefined
}

/**
 * Gives this run the artifacts that the completed attempt of a block wrote in an earlier one; what it wrote before that,
 * and was refused or sent back for, stays behind. False where it has none there, since another block wrote over them,
 * and for a fan-out, whose items write again: that costs nothing. They are stored once more: an object lives from when it
 * was last written.
 */
async function takeBlockArtifacts(call: BlockCall, found: EarlierResult, attempt: number): Promise<boolean> {
  const { world, storage, run, block, item } = call
  if (item !== undefined || block.foreach !== undefined) return false
  const { run: from, projection } = found
  const { epoch } = readOrdinal(projection.ordinal)
  const wrote = (one: ArtifactItem) => one.attempt === projection.attempt && (one.epoch ?? 0) === epoch
  const own = (await world.runs.artifacts(from)).filter((one) => one.block_id === block.id && wrote(one))
  for (const { epoch: _, ...one } of own) {
    await storage.bounded.objects.put(run.tenant, await world.objects.get(run.tenant, one.ref))
    await world.runs.putArtifact(run, { ...one, attempt, from_run: one.from_run ?? from.run_id })
  }
  return own.length > 0
}

/** A completed result of an earlier run. */
interface EarlierResult {
  readonly run: RunKey
  readonly projection: BlockProjection
}

/** What an attempt is about to work with. */
interface AttemptInputs {
  readonly inputs_hash: string
  readonly values: Readonly<Record<string, Json>>
}

/** An ended run of the chain, and where the block stands in it. */
interface EarlierBlock extends EarlierRun {
  readonly head: Head
  /** Position of the block in that run's document. */
  readonly at: number
}

/**
 * The result that stands in for this attempt: of the newest run in the chain of retries in which the same definition
 * completed with the same inputs, and a person approved the same question where there is one.
 */
async function earlierResult(call: BlockCall, inputs: AttemptInputs): Promise<EarlierResult | undefined> {
  for await (const earlier of earlierRuns(call)) {
    const projection = await completedIn(call, earlier, inputs)
    if (projection !== undefined) return { run: earlier.run, projection }
  }
  return undefined
}

async function completedIn(
  call: BlockCall,
  before: EarlierRun,
  inputs: AttemptInputs,
): Promise<BlockProjection | undefined> {
  const { world, block, item } = call
  const at = before.index.get(block.id)
  if (at === undefined || before.dag.blocks[at]?.hash !== block.hash) return undefined
  const head = await world.runs.head(before.run, [String(at)])
  if (head === undefined || head.state === 'running') return undefined
  const earlier = { ...before, head, at }
  const projection = await (item === undefined ? earlierProjection(call, earlier) : earlierItem(call, earlier, item))
  if (projection?.state !== 'completed' || projection.inputs_hash !== inputs.inputs_hash) return undefined
  if (item !== undefined || block.approval === undefined) return projection
  return (await isApprovedEarlier(call, earlier, inputs.values)) ? projection : undefined
}

/** In its newest epoch: what a bounce sent back was improved since. */
async function earlierProjection(
  { world, block }: BlockCall,
  earlier: EarlierBlock,
): Promise<BlockProjection | undefined> {
  const { run, at, head } = earlier
  const lane = blockOrdinal(earlier, head, block.id)
  if (lane === undefined || readOrdinal(lane).outcome !== 'completed') return undefined
  return (await readProjections(world, run, new Map([[at, lane]]))).get(at)
}

/** At the same place in the list. Its lane left HEAD with its block's end: a record that lags is made again. */
async function earlierItem(
  { world, block }: BlockCall,
  earlier: EarlierBlock,
  item: number,
): Promise<BlockProjection | undefined> {
  const { run, at, head } = earlier
  const [seen] = await world.runs.itemProjections(run, at, [item])
  if (seen === undefined || readOrdinal(seen.ordinal).epoch !== blockEpoch(earlier, head, block.id)) return undefined
  return seen.state === 'running' ? recoverProjection(world, run, { block: at, item }, seen.ordinal) : seen
}

/**
 * Whether a decision of an earlier run stands for the question this run would ask: only where the document says
 * `reuse: true`, where the digest is the same (so prompt, values, definition, document, overrides, context and outputs that
 * a yes binds are), and where everybody who said yes still may decide. An expiry that counted as approval was nobody's
 * decision. Whoever starts this run may not lean on a yes of their own, or a vote, where that is forbidden.
 */
async function isApprovedEarlier(
  call: BlockCall,
  { run, head, at, ...places }: EarlierBlock,
  values: Readonly<Record<string, Json>>,
): Promise<boolean> {
  const policy = call.block.approval
  const epoch = blockEpoch(places, head, call.block.id)
  const approval = head.approvals[approvalId(run.run_id, at, epoch)]
  if (policy?.reuse !== true || approval?.status !== 'approved') return false
  const people = peopleOf(call.world.settings)
  const voters = votersOf(approval)
  if (leansOnSelf(call, policy, voters, people)) return false
  for (const voter of voters) if (!(await mayStillDecide(call, policy, approval, { ...voter, people }))) return false
  return (await describeQuestion(call, policy, values)).digest === approval.digest
}

/** A name, and the person where that is another one. */
interface Voter {
  readonly name: string
  readonly person?: string | undefined
}

/** Everybody who said yes; who decided is the last of several votes. */
function votersOf({ decided_by = '', decided_person, votes = [] }: HeadApproval): readonly Voter[] {
  const voted = votes.map(({ by, person }) => ({ name: by, person }))
  return voted.some(({ name }) => name === decided_by)
    ? voted
    : [...voted, { name: decided_by, person: decided_person }]
}

function leansOnSelf(
  { meta }: BlockCall,
  { self_approval }: ApprovalPolicy,
  voters: readonly Voter[],
  people: People,
): boolean {
  if (self_approval && people.self_approval) return false
  const starter = personOf(meta.starter_person ?? meta.starter, people)
  return voters.some(({ name, person = name }) => personOf(person, people) === starter)
}

const TOKEN_PREFIX = 'token:'

/** By the approvers and groups of now; a token that was revoked, has expired or lost the scope decides no more. */
async function mayStillDecide(
  { world, run }: BlockCall,
  policy: ApprovalPolicy,
  { escalated }: HeadApproval,
  { name, person, people }: Voter & { readonly people: People },
): Promise<boolean> {
  const state = escalated === true ? { escalated } : {}
  if (ruleThatAllows(policy, state, name, people, person) === undefined) return false
  if (!name.startsWith(TOKEN_PREFIX)) return true
  const token = await world.tokens.get(name.slice(TOKEN_PREFIX.length))
  return (
    token?.tenant === run.tenant &&
    token.revoked === undefined &&
    Date.parse(token.expires_at) > world.clock.now() &&
    token.scopes.includes('approvals:decide')
  )
}

/** A run that this one retries, or that one, and so on. */
interface EarlierRun extends Pinned {
  readonly run: RunKey
}

/** Results are handed on from retry to retry, so the newest run mostly has what there is. */
const MOST_RUNS = 20

/**
 * The runs whose results a block of a retried run may take over, newest first. A retry that was told to begin again with
 * the block is the last one for it.
 */
async function* earlierRuns({ world, run, meta, block }: BlockCall): AsyncGenerator<EarlierRun> {
  let link = meta.retry_of
  for (let runs = 0; link !== undefined && runs < MOST_RUNS; runs += 1) {
    if (link.again.includes(block.id)) return
    const earlier = { tenant: run.tenant, run_id: link.run_id }
    const pinned = await readPinned(world, earlier)
    yield { ...pinned, run: earlier }
    link = pinned.meta.retry_of
  }
}

/**
 * What a child run of a retried run takes results over from: the newest child its block had in the runs before, if it
 * has ended. None where the retry was told to begin again with this block, or after a bounce.
 */
export async function earlierChildRun(call: BlockCall): Promise<Pick<Meta, 'retry_of'>> {
  if (call.epoch > 0) return {}
  for await (const earlier of earlierRuns(call)) {
    const child = await childIn(call, earlier)
    const head = child === undefined ? undefined : await call.world.runs.head(child, [])
    if (child !== undefined && head !== undefined && head.state !== 'running') {
      return { retry_of: { run_id: child.run_id, again: [] } }
    }
  }
  return {}
}

/** The id its newest attempt's child has, whether it came to that or not. */
async function childIn({ world, block }: BlockCall, earlier: EarlierRun): Promise<RunKey | undefined> {
  const { run, index } = earlier
  const at = index.get(block.id)
  const head = at === undefined ? undefined : await world.runs.head(run, [String(at)])
  const lane = head === undefined ? undefined : blockOrdinal(earlier, head, block.id)
  if (at === undefined || lane === undefined) return undefined
  const { epoch, attempt } = readOrdinal(lane)
  return { tenant: run.tenant, run_id: childRunId(run.tenant, { run_id: run.run_id, block: at, epoch, attempt }) }
}

/** What an attempt asks the cache about. */
export interface CacheLookup {
  readonly attempt: number
  readonly inputs_hash: string
  readonly values: Readonly<Record<string, Json>>
  readonly feedback: readonly string[]
}

/**
 * The end of an attempt that a kept result of the same definition and inputs stands in for, its post-gates judged again;
 * undefined = dispatch: there is none, it is too old, its objects are gone or a gate refuses it. What is being improved
 * (feedback, a later epoch) is never answered with what was there before.
 */
export async function endFromCache(call: BlockCall, question: CacheLookup): Promise<AttemptEnd | undefined> {
  const { world, run, block, epoch } = call
  const { attempt, inputs_hash, values, feedback } = question
  if (block.cache === undefined || epoch > 0 || feedback.length > 0) return undefined
  const kept = await world.runs.cached(run.tenant, keptAs(call), inputs_hash).catch((error: unknown) => {
    world.log.error('a kept result could not be read', { ...run, block_id: block.id, error: String(error) })
    return undefined
  })
  if (kept === undefined || world.clock.now() - Date.parse(kept.at) > block.cache.max_age_sec * 1_000) return undefined
  const produced = await cachedProduct(call, kept)
  if (produced === undefined) return undefined
  const end = await judgeProduced(call, attempt, values, produced, 0)
  if (end.failure === undefined) return { ...end, cached_from: kept.run_id }
  // Work that is done instead would not fit either.
  if (end.failure.code === STORAGE_QUOTA) return withoutOutput(end)
  // The verdicts are thrown away, what their judges used is not.
  for (const event of end.gate_events) putBackUse(call.meter, usedByEvent(event))
  return undefined
}

/** What an earlier run paid for is that one's to tell. */
function withoutOutput({ output: _, ...end }: AttemptEnd): AttemptEnd {
  return end
}

/** Keeps what a completed attempt published, unless it was a kept result itself: that one's age goes on. */
export async function cacheResult(call: BlockCall, inputs_hash: string, end: AttemptEnd): Promise<void> {
  const { world, run, block } = call
  const { output, failure, cached_from } = end
  if (block.cache === undefined || output === undefined || failure !== undefined || cached_from !== undefined) return
  const at = new Date(world.clock.now()).toISOString()
  const result = { run_id: run.run_id, block_id: block.id, at, output }
  await world.runs.putCached(run.tenant, keptAs(call), inputs_hash, result)
}

/** A model is told the goal of its run: what it said towards another one is no result of this. */
export function keptAs({ block, meta }: Pick<BlockCall, 'block' | 'meta'>): string {
  const contract = block.mode === 'ai' ? meta.goal?.contract_hash : undefined
  return contract === undefined ? block.hash : sha256(canonicalJson({ block: block.hash, contract }))
}

/** As it was recorded, at no cost. */
async function cachedProduct({ world, run }: BlockCall, kept: CachedResult): Promise<Produced | undefined> {
  const { outputs, latency_ms: _, unpriced_tokens: _none, log: _log, outcome_ref: _outcome, ...said } = kept.output
  const { passed_over: _others, ...facts } = said
  const free = { ...facts, tokens_in: 0, tokens_out: 0, usd_micros: 0, note: `kept result of run ${kept.run_id}` }
  try {
    return { values: await readPortValues(world, run.tenant, outputs), problems: [], facts: free }
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return undefined
  }
}
