import { type BounceModule, bounceModules } from '../dag/bounce-modules.ts'
import type { Block, Dag, OnConflict } from '../dag/dag.ts'
import { waitWords } from './event-types.ts'
import type { AskedAbout } from './head.ts'
import { NO_TRY } from './retry.ts'
import type { ApprovalFold, BlockFold, RunFold, StepFold } from './run-fold.ts'
import type { Meta } from './run-store.ts'
import { agentCounts, agentCountWords, agentItemWords, questionItem } from './turns-and-calls.ts'

/** More than this many reasons are counted instead of told. */
const TOLD = 3

/** What its events do not say of a run, for words. */
export interface Waiting {
  /** Milliseconds since 1970. */
  readonly now: number
  /** Blocks that may run at once, 0 = no limit. */
  readonly max_parallel: number
  /** What the safety policy lowers `retry` to. */
  readonly max_attempts: number
  /** Of a research run. */
  readonly kind?: Meta['kind'] | undefined
  /** Its completion is judged when its blocks have ended. */
  readonly judged?: boolean
  /** Of a run that waits for a slot: its place in the queue, from 1, and how many runs are active. */
  readonly queue?:
    | {
        readonly place: number
        readonly active: number
        /** ISO time; absent = since its start. */
        readonly since?: string
      }
    | undefined
  /** Of a run that takes turns with others of its key. */
  readonly turn?: ShownTurn | undefined
}

/** Where a live run stands among those of its key. */
export interface ShownTurn {
  /** As its document says; absent = all runs of the document take turns. */
  readonly key?: string
  readonly limit: number
  readonly on_conflict: OnConflict
  /** Runs of the key that go on. */
  readonly running: readonly string[]
  /** Of one whose turn has not come: its place among those that wait, from 1, and who goes before it, the nearest first. */
  readonly place?: number
  readonly behind?: readonly string[]
}

/**
 * What a live run waits for and since when, in one sentence for people: `waiting for approval of deploy since ..`,
 * `block build: attempt 2 of 3, running for 12 s`. Undefined when it has ended.
 */
export function waitingWords(dag: Dag, fold: RunFold, waiting: Waiting): string | undefined {
  if (fold.state !== 'running') return undefined
  if (fold.paused !== undefined) return pausedWords(fold, fold.paused)
  if (fold.queued === true && waiting.turn?.place !== undefined) return turnWords(fold, waiting.turn)
  if (waiting.queue !== undefined) return queueWords(fold, waiting.queue)
  if (waiting.kind === 'research') return researchWords(fold, waiting.now)
  const asked = Object.values(fold.approvals)
    .filter(({ status }) => status === 'pending')
    .map((approval) => `${askedWords(approval, foldedBlock(fold, approval.block_id))} since ${approval.requested_at}`)
  const steps = newestSteps(fold.steps)
  const busy = dag.blocks.flatMap((block) => {
    const { id } = block
    const decided = Object.values(fold.approvals).findLast(({ block_id }) => block_id === id)?.decided_at
    return busyWords(block, foldedBlock(fold, id), { ...waiting, step: steps.get(id), decided })
  })
  const words = [
    ...(asked.length === 0 ? [] : [`waiting for ${listed(asked)}`]),
    ...busy,
    ...slotWords(dag, fold, waiting),
  ]
  return words.length > 0 ? listed(words, '; ') : idleWords(dag, fold, waiting)
}

/** `a word on call 2 of turn 3 (crm.refund) of solve`. */
function askedWords({ approval_id, block_id, about = 'dispatch' }: ApprovalFold, block: BlockFold | undefined): string {
  const item = questionItem(approval_id)
  if (item === undefined) return `${ASKED[about]} ${block_id}`
  const call = `${agentItemWords(item, block?.items?.[item]?.tool)} of ${block_id}`
  return about === 'call' ? `a word on ${call}` : `${ASKED[about]} ${call}`
}

const ASKED: Readonly<Record<AskedAbout, string>> = {
  dispatch: 'approval of',
  pre_gates: 'a waiver of pre-gates of',
  post_gates: 'a waiver of post-gates of',
  budget: 'a higher budget for',
  lost_step: 'a word on the lost attempt of',
  call: 'a word on a call of',
}

function queueWords(
  { started_at }: RunFold,
  { place, active, since = started_at }: NonNullable<Waiting['queue']>,
): string {
  const runs = active === 1 ? '1 run is active' : `${active} runs are active`
  return `waiting for a place since ${since}: ${nth(place)} in the queue, ${runs}`
}

function turnWords({ started_at }: RunFold, { key, limit, running, place = 1, behind = [] }: ShownTurn): string {
  const of = key === undefined ? 'its turn' : `its turn (${key})`
  const before = behind.length === 0 ? '' : `, behind ${listed(behind)}`
  const on = running.length === 0 ? '' : `, ${listed(running)} ${running.length === 1 ? 'goes' : 'go'} on`
  return `waiting for ${of} since ${started_at}: ${nth(place)} in the queue${before}${on} (limit ${limit})`
}

/** `1st`, `2nd`, `3rd`, `4th`, `11th`, `21st`. */
function nth(n: number): string {
  const teen = n % 100 > 10 && n % 100 < 14
  return `${n}${(teen ? undefined : ['th', 'st', 'nd', 'rd'][n % 10]) ?? 'th'}`
}

/** Of each block itself, not of the items of a fan-out. */
function newestSteps(steps: readonly StepFold[]): ReadonlyMap<string, StepFold> {
  return new Map(steps.flatMap((step) => (step.item === undefined ? [[step.block_id, step]] : [])))
}

interface BlockWaiting extends Waiting {
  readonly step: StepFold | undefined
  /** When a person last let it go on. */
  readonly decided: string | undefined
}

function busyWords({ id, retry, mode }: Block, block: BlockFold | undefined, waiting: BlockWaiting): readonly string[] {
  if (block === undefined) return []
  const { now, max_attempts, step, decided } = waiting
  const attempt = `block ${id}: ${attemptWords(block, Math.max(1, Math.min(retry.max_attempts, max_attempts)))}`
  if (block.state === 'running') return [`${attempt}, ${workWords(mode, block, step?.started_at, now)}`]
  if (block.state === 'ready') return [`block ${id}: ready to start${decided === undefined ? '' : ` since ${decided}`}`]
  if (block.state !== 'retrying') return []
  const since = step?.ended_at === undefined ? '' : `, waiting since ${step.ended_at}`
  return [`${attempt}, ${block.error?.reason ?? 'failed'}, ${nextTry(block, now)}${since}`]
}

/** A lost attempt is tried again beyond the block's own retry, of which it uses up nothing (docs/adr/0009). */
function attemptWords({ state, attempt, untried = 0, error }: BlockFold, most: number): string {
  if (untried === 0)
    return attempt > most ? `attempt ${attempt} (retry allows ${most})` : `attempt ${attempt} of ${most}`
  const tries = attempt - untried
  if (state === 'retrying' && NO_TRY.has(error?.code ?? ''))
    return `attempt ${attempt} (no try, ${tries} of ${most} are used up)`
  return `attempt ${attempt} (try ${tries} of ${most}; attempts that were no try: ${untried})`
}

const ENDED: ReadonlySet<string> = new Set(['completed', 'failed', 'skipped', 'cancelled'])

function workWords(mode: Block['mode'], block: BlockFold, since: string | undefined, now: number): string {
  const { child, item_count, items = {}, wait } = block
  if (wait !== undefined && wait.ended_at === undefined)
    return `waits for ${waitWords(wait)} since ${wait.since}, until ${wait.until}`
  const run = mode === 'research' ? 'research' : 'child run'
  if (child !== undefined) return `waits for ${run} ${child}${since === undefined ? '' : ` since ${since}`}`
  const work = since === undefined ? 'running' : `running for ${elapsed(now - Date.parse(since))}`
  const acts = agentCounts(block)
  if (acts !== undefined) return `${agentCountWords(acts)}, ${work}`
  if (item_count === undefined) return work
  const done = Object.values(items).filter(({ state }) => ENDED.has(state)).length
  return `${done} of ${item_count} items done, ${work}`
}

/** The chain has no blocks: its stages follow one another. */
function researchWords({ stage, started_at = '' }: RunFold, now: number): string {
  if (stage === undefined) return `research: about to begin, since ${started_at}`
  const after = `research: ${stage.stage} done (step ${stage.n + 1})`
  const since = elapsed(now - Date.parse(stage.at))
  return stage.stage === 'synthesize_answer' ? `${after}, about to end` : `${after}, next stage running for ${since}`
}

/** `12 s`, `3 min`, `2 h 4 min`. */
function elapsed(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000))
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

function nextTry({ due_at }: BlockFold, now: number): string {
  const left = due_at === undefined ? 0 : Math.ceil((Date.parse(due_at) - now) / 1_000)
  return left > 0 ? `next try in ${left} s` : 'next try due now'
}

/** Blocks whose turn it is, while as many run as may. */
function slotWords(dag: Dag, fold: RunFold, { max_parallel }: Waiting): readonly string[] {
  const running = fold.steps.filter(({ state, block_id, item }) => {
    const block = foldedBlock(fold, block_id)
    const isFanOut = item === undefined && (block?.item_count ?? block?.first_turn) !== undefined
    // An attempt a person is asked about holds no slot.
    const works = (item === undefined ? block?.state : block?.items?.[item]?.state) === 'running'
    return state === 'running' && !isFanOut && works
  })
  const next = nextBlocks(dag, fold)
  if (max_parallel === 0 || running.length < max_parallel || next.length === 0) return []
  const ids = next.map(({ id }) => id)
  const { length } = running
  const at = length === 1 ? '1 block runs' : `${length} blocks run`
  const who = `${next.length === 1 ? 'block' : 'blocks'} ${listed(ids)}`
  return [`${who}: waiting for a free place since ${since(next, fold)} (${at}, max_parallel ${max_parallel})`]
}

/** Nothing is under way: the machine is about to call its next function. */
function idleWords(dag: Dag, fold: RunFold, { judged }: Waiting): string {
  const next = nextBlocks(dag, fold)
  if (next.length === 0 && judged === true && fold.goal === undefined)
    return `its completion is being judged since ${lastEnd(fold)}`
  if (next.length === 0) return `waiting for its end since ${lastEnd(fold)}`
  return `about to start ${next.length === 1 ? 'block' : 'blocks'} ${listed(next.map(({ id }) => id))} since ${since(next, fold)}`
}

function lastEnd({ blocks, started_at = '' }: RunFold): string {
  const ends = Object.values(blocks).flatMap(({ ended_at }) => ended_at ?? [])
  return [started_at, ...ends].sort().at(-1) ?? ''
}

/** What is at work ends, and nothing begins. */
function pausedWords({ blocks }: RunFold, { since, by, reason, parent }: NonNullable<RunFold['paused']>): string {
  const why = reason === undefined ? '' : `: ${reason}`
  const with_parent = parent === undefined ? '' : `, with run ${parent}`
  const busy = Object.values(blocks).filter((block) => block.state === 'running' && !isWaitOpen(block)).length
  const ending = busy === 0 ? '' : `; ${busy === 1 ? 'a block is' : `${busy} blocks are`} still at work`
  return `paused by ${by} since ${since}${with_parent}${why}${ending}`
}

function nextBlocks(dag: Dag, fold: RunFold): readonly Block[] {
  return movingBlocks(dag, fold).filter(({ id }) => (foldedBlock(fold, id)?.state ?? 'pending') === 'pending')
}

/** When the last of what the first of them waited for had ended: there it might have begun. */
function since(blocks: readonly Block[], fold: RunFold): string {
  const times = blocks.map(({ id, upstream }) => {
    const ends = [id, ...upstream].map((other) => foldedBlock(fold, other)?.ended_at ?? '')
    return [fold.started_at ?? '', ...ends].sort().at(-1) ?? ''
  })
  return times.sort()[0] ?? ''
}

function listed(words: readonly string[], comma = ', '): string {
  const rest = words.length - TOLD
  return rest > 0 ? `${words.slice(0, TOLD).join(comma)}${comma}and ${rest} more` : words.join(comma)
}

/**
 * Whether only people can move the run on: it runs, at least one approval is pending, and no block is running,
 * retrying, ready or about to start (the state paused_approval, which is derived and never stored).
 */
export function isWaitingForPeople(dag: Dag, fold: RunFold): boolean {
  const isAsked = Object.values(fold.approvals).some(({ status }) => status === 'pending')
  return fold.state === 'running' && isAsked && movingBlocks(dag, fold).length === 0
}

/** Whether only what its waits are for can move the run on: nobody is asked, and nothing else is to go on. */
export function isWaiting(dag: Dag, fold: RunFold): boolean {
  return fold.state === 'running' && hasOpenWait(fold) && movingBlocks(dag, fold).length === 0
}

/** Whether a block or an item of one waits as its document says. */
export function hasOpenWait({ blocks }: Pick<RunFold, 'blocks'>): boolean {
  return Object.values(blocks).some((block) => {
    return isWaitOpen(block) || Object.values(block.items ?? {}).some(({ waits }) => waits === true)
  })
}

/** Blocks that are running, retrying, ready or about to start, in document order; not those that wait. */
export function movingBlocks(dag: Dag, fold: RunFold): readonly Block[] {
  const modules = bounceModules(dag.blocks)
  const asked = new Set(pendingBlocks(fold))
  return dag.blocks.filter((block) => isMoving(block, modules, fold, asked))
}

function pendingBlocks({ approvals }: RunFold): readonly string[] {
  return Object.values(approvals).flatMap(({ status, block_id }) => (status === 'pending' ? [block_id] : []))
}

/** A block as the fold knows it; undefined before its first event. */
function foldedBlock({ blocks }: Pick<RunFold, 'blocks'>, id: string): BlockFold | undefined {
  return Object.hasOwn(blocks, id) ? blocks[id] : undefined
}

const MOVING: ReadonlySet<string> = new Set(['running', 'retrying', 'ready'])

function isMoving(
  { id, upstream }: Block,
  modules: readonly BounceModule[],
  fold: RunFold,
  asked: ReadonlySet<string>,
): boolean {
  const block = foldedBlock(fold, id)
  // Between block:asked and the question itself its machine is about to ask.
  if (block?.state === 'paused_approval') return !asked.has(id)
  if (block !== undefined && (isWaitOpen(block) || itemsWait(block, asked.has(id)))) return false
  if (block !== undefined && block.state !== 'pending') return MOVING.has(block.state)
  return waitedFor(id, upstream, modules).every((other) => ENDED.has(foldedBlock(fold, other)?.state ?? 'pending'))
}

/** Whether nothing of a fan-out is under way but items that wait for an answer: further ones begin behind those. */
function itemsWait({ items = {} }: BlockFold, asked: boolean): boolean {
  const all = Object.values(items)
  const waits = all.some(({ state, waits }) => waits === true || (asked && state === 'paused_approval'))
  return waits && !all.some(({ state, waits }) => waits !== true && MOVING.has(state))
}

function isWaitOpen({ state, wait }: BlockFold): boolean {
  return state === 'running' && wait !== undefined && wait.ended_at === undefined
}

/** From outside, a bounce module is waited for as a whole: it may still send back what has ended. */
export function waitedFor(
  id: string,
  upstream: readonly string[],
  modules: readonly BounceModule[],
): readonly string[] {
  const entered = modules.filter(
    ({ blocks }) => !blocks.includes(id) && blocks.some((other) => upstream.includes(other)),
  )
  return [...upstream, ...entered.flatMap(({ blocks }) => blocks)]
}
