import { type BounceModule, bounceModules } from '../dag/bounce-modules.ts'
import type { Block, Dag } from '../dag/dag.ts'
import type { ApprovalFold, BlockFold, RunFold } from './run-fold.ts'

/** More than this many reasons are counted instead of told. */
const TOLD = 3

/**
 * Whether only people can move the run on: it runs, at least one approval is pending, and no block is running,
 * retrying, ready or about to start (decisions, "Events": paused_approval is derived, never stored).
 */
export function isWaitingForPeople(dag: Dag, fold: RunFold): boolean {
  if (fold.state !== 'running' || pendingOf(fold).length === 0) return false
  return movingBlocks(dag, fold).length === 0
}

/** Blocks that are running, retrying, ready or about to start. */
export function movingBlocks(dag: Dag, fold: RunFold): readonly Block[] {
  const modules = bounceModules(dag.blocks)
  return dag.blocks.filter((block) => isMoving(block, modules, fold))
}

/**
 * What a live run waits for, for people: `waiting for approval of deploy since ..`, `block build: attempt 2 of 3,
 * provider timeout, next try in 4 s`. Undefined when it has ended or nothing has begun.
 */
export function waitingWords(dag: Dag, fold: RunFold, now: number): string | undefined {
  if (fold.state !== 'running') return undefined
  const asked = pendingOf(fold).map(({ block_id, requested_at }) => `approval of ${block_id} since ${requested_at}`)
  const busy = dag.blocks.flatMap((block) => busyWords(block, stateOf(block.id, fold), now))
  const words = [...(asked.length === 0 ? [] : [`waiting for ${listed(asked)}`]), ...busy]
  return words.length === 0 ? undefined : listed(words, '; ')
}

function pendingOf({ approvals }: RunFold): readonly ApprovalFold[] {
  return Object.values(approvals).filter(({ status }) => status === 'pending')
}

const MOVING: ReadonlySet<string> = new Set(['running', 'retrying', 'ready'])
const ENDED: ReadonlySet<string> = new Set(['completed', 'failed', 'skipped', 'cancelled'])

function isMoving({ id, upstream }: Block, modules: readonly BounceModule[], fold: RunFold): boolean {
  const block = stateOf(id, fold)
  if (block !== undefined && block.state !== 'pending') return MOVING.has(block.state)
  return waitedFor(id, upstream, modules).every((other) => ENDED.has(stateOf(other, fold)?.state ?? 'pending'))
}

/** From outside, a bounce module is waited for as a whole: it may still send back what has ended. */
function waitedFor(id: string, upstream: readonly string[], modules: readonly BounceModule[]): readonly string[] {
  const entered = modules.filter(
    ({ blocks }) => !blocks.includes(id) && blocks.some((other) => upstream.includes(other)),
  )
  return [...upstream, ...entered.flatMap(({ blocks }) => blocks)]
}

function stateOf(id: string, { blocks }: RunFold): BlockFold | undefined {
  return Object.hasOwn(blocks, id) ? blocks[id] : undefined
}

function busyWords({ id, retry }: Block, block: BlockFold | undefined, now: number): readonly string[] {
  if (block === undefined) return []
  const attempt = `block ${id}: ${attemptWords(block.attempt, retry.max_attempts)}`
  if (block.state === 'running') return [`${attempt}, ${workWords(block)}`]
  if (block.state === 'retrying') return [`${attempt}, ${block.error?.reason ?? 'failed'}, ${nextTry(block, now)}`]
  return block.state === 'ready' ? [`block ${id}: ready to start`] : []
}

/** A lost attempt is tried again beyond the block's own retry (docs/adr/0009). */
function attemptWords(attempt: number, most: number): string {
  return attempt > most
    ? `attempt ${attempt} (retry allows ${most}, lost attempts came on top)`
    : `attempt ${attempt} of ${most}`
}

function workWords({ child, item_count, items = {} }: BlockFold): string {
  if (child !== undefined) return `waits for child run ${child}`
  if (item_count === undefined) return 'running'
  const done = Object.values(items).filter(({ state }) => ENDED.has(state)).length
  return `${done} of ${item_count} items done`
}

function nextTry({ due_at }: BlockFold, now: number): string {
  const left = due_at === undefined ? 0 : Math.ceil((Date.parse(due_at) - now) / 1_000)
  return left > 0 ? `next try in ${left} s` : 'next try due now'
}

function listed(words: readonly string[], comma = ', '): string {
  const rest = words.length - TOLD
  return rest > 0 ? `${words.slice(0, TOLD).join(comma)}${comma}and ${rest} more` : words.join(comma)
}
