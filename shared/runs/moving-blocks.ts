import { type BounceModule, bounceModules } from '../dag/bounce-modules.ts'
import type { Block, Dag } from '../dag/dag.ts'
import type { BlockFold, RunFold } from './run-fold.ts'

/**
 * Whether only people can move the run on: it runs, at least one approval is pending, and no block is running,
 * retrying, ready or about to start (the state paused_approval, which is derived and never stored).
 */
export function isWaitingForPeople(dag: Dag, fold: RunFold): boolean {
  const isAsked = Object.values(fold.approvals).some(({ status }) => status === 'pending')
  return fold.state === 'running' && isAsked && movingBlocks(dag, fold).length === 0
}

/** Blocks that are running, retrying, ready or about to start, in document order. */
export function movingBlocks(dag: Dag, fold: RunFold): readonly Block[] {
  const modules = bounceModules(dag.blocks)
  const asked = new Set(pendingBlocks(fold))
  return dag.blocks.filter((block) => isMoving(block, modules, fold, asked))
}

function pendingBlocks({ approvals }: RunFold): readonly string[] {
  return Object.values(approvals).flatMap(({ status, block_id }) => (status === 'pending' ? [block_id] : []))
}

/** A block as the fold knows it; undefined before its first event. */
export function foldedBlock({ blocks }: Pick<RunFold, 'blocks'>, id: string): BlockFold | undefined {
  return Object.hasOwn(blocks, id) ? blocks[id] : undefined
}

const MOVING: ReadonlySet<string> = new Set(['running', 'retrying', 'ready'])
const ENDED: ReadonlySet<string> = new Set(['completed', 'failed', 'skipped', 'cancelled'])

function isMoving(
  { id, upstream }: Block,
  modules: readonly BounceModule[],
  fold: RunFold,
  asked: ReadonlySet<string>,
): boolean {
  const block = foldedBlock(fold, id)
  // Between block:asked and the question itself its machine is about to ask.
  if (block?.state === 'paused_approval') return !asked.has(id)
  if (block !== undefined && asked.has(id) && itemsWait(block)) return false
  if (block !== undefined && block.state !== 'pending') return MOVING.has(block.state)
  return waitedFor(id, upstream, modules).every((other) => ENDED.has(foldedBlock(fold, other)?.state ?? 'pending'))
}

/** Whether nothing of a fan-out is under way but items that wait for an answer: further ones begin behind those. */
function itemsWait({ items = {} }: BlockFold): boolean {
  const states = Object.values(items).map(({ state }) => state)
  return states.includes('paused_approval') && !states.some((state) => MOVING.has(state))
}

/** From outside, a bounce module is waited for as a whole: it may still send back what has ended. */
function waitedFor(id: string, upstream: readonly string[], modules: readonly BounceModule[]): readonly string[] {
  const entered = modules.filter(
    ({ blocks }) => !blocks.includes(id) && blocks.some((other) => upstream.includes(other)),
  )
  return [...upstream, ...entered.flatMap(({ blocks }) => blocks)]
}
