import { type BounceModule, bounceModules } from '../dag/bounce-modules.ts'
import type { Block, Dag } from '../dag/dag.ts'
import type { BlockFold, RunFold } from './run-fold.ts'

/**
 * Whether only people can move the run on: it runs, at least one approval is pending, and no block is running,
 * retrying, ready or about to start (decisions, "Events": paused_approval is derived, never stored).
 */
export function isWaitingForPeople(dag: Dag, fold: RunFold): boolean {
  const isAsked = Object.values(fold.approvals).some(({ status }) => status === 'pending')
  return fold.state === 'running' && isAsked && movingBlocks(dag, fold).length === 0
}

/** Blocks that are running, retrying, ready or about to start, in document order. */
export function movingBlocks(dag: Dag, fold: RunFold): readonly Block[] {
  const modules = bounceModules(dag.blocks)
  return dag.blocks.filter((block) => isMoving(block, modules, fold))
}

/** A block as the fold knows it; undefined before its first event. */
export function foldedBlock({ blocks }: Pick<RunFold, 'blocks'>, id: string): BlockFold | undefined {
  return Object.hasOwn(blocks, id) ? blocks[id] : undefined
}

const MOVING: ReadonlySet<string> = new Set(['running', 'retrying', 'ready'])
const ENDED: ReadonlySet<string> = new Set(['completed', 'failed', 'skipped', 'cancelled'])

function isMoving({ id, upstream }: Block, modules: readonly BounceModule[], fold: RunFold): boolean {
  const block = foldedBlock(fold, id)
  if (block !== undefined && block.state !== 'pending') return MOVING.has(block.state)
  return waitedFor(id, upstream, modules).every((other) => ENDED.has(foldedBlock(fold, other)?.state ?? 'pending'))
}

/** From outside, a bounce module is waited for as a whole: it may still send back what has ended. */
function waitedFor(id: string, upstream: readonly string[], modules: readonly BounceModule[]): readonly string[] {
  const entered = modules.filter(
    ({ blocks }) => !blocks.includes(id) && blocks.some((other) => upstream.includes(other)),
  )
  return [...upstream, ...entered.flatMap(({ blocks }) => blocks)]
}
