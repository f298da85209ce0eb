import type { DagGraph } from '../../../../shared/plan/graph-schema.ts'
import type { BlockFold, RunFold } from '../../../../shared/runs/run-fold.ts'
import { agentCounts, agentCountWords } from '../../../../shared/runs/turns-and-calls.ts'
import { sentBackWords } from '../../parts/format.ts'

/** What a block is doing, as its node says it. Flat, so that two are compared member by member. */
export interface BlockStatus {
  readonly state: string
  readonly attempt: number
  /** Attempts that were no try of its retry. */
  readonly untried: number
  readonly epoch: number
  readonly started_at: string | undefined
  readonly ended_at: string | undefined
  readonly passed: number
  readonly failed: number
  readonly waived: number
  /** Of a foreach block that has begun. */
  readonly item_count: number | undefined
  readonly items_done: number
  readonly items_failed: number
  /** Never begun, since too many others failed. */
  readonly items_skipped: number
  /** Turns and calls of an agent that acts, in words. */
  readonly agent: string | undefined
  readonly child: string | undefined
  readonly cached_from: string | undefined
}

export type BlockStatuses = ReadonlyMap<string, BlockStatus>

/**
 * What every block is doing at a fold. A block that does what it did in `before` keeps its object: whoever reads one
 * block by its signal draws again only when that block has changed.
 */
export function blockStatuses(ids: readonly string[], fold: RunFold, before: BlockStatuses = new Map()): BlockStatuses {
  return new Map(
    ids.map((id) => {
      const next = liveOf(id, fold)
      const old = before.get(id)
      return [id, old !== undefined && isSame(old, next) ? old : next]
    }),
  )
}

function liveOf(id: string, fold: RunFold): BlockStatus {
  const block = Object.hasOwn(fold.blocks, id) ? fold.blocks[id] : undefined
  if (block === undefined) return { ...UNSEEN, state: unseenState(fold) }
  const gates = (status: string) => block.gates.filter((gate) => gate.status === status).length
  return {
    state: block.state,
    attempt: block.attempt,
    untried: block.untried ?? 0,
    epoch: block.epoch,
    started_at: block.started_at,
    ended_at: block.ended_at,
    passed: gates('passed'),
    failed: gates('failed') + gates('error'),
    waived: gates('waived'),
    ...itemsOf(block),
    agent: agentOf(block),
    child: block.child,
    cached_from: block.cached_from,
  }
}

const UNSEEN: Omit<BlockStatus, 'state'> = {
  attempt: 0,
  untried: 0,
  epoch: 0,
  started_at: undefined,
  ended_at: undefined,
  passed: 0,
  failed: 0,
  waived: 0,
  item_count: undefined,
  items_done: 0,
  items_failed: 0,
  items_skipped: 0,
  agent: undefined,
  child: undefined,
  cached_from: undefined,
}

/** The end of the run cancels also the blocks no event ever named. */
function unseenState({ state }: RunFold): string {
  return state === 'running' ? 'pending' : 'cancelled'
}

function itemsOf({
  item_count,
  items = {},
}: BlockFold): Pick<BlockStatus, 'item_count' | 'items_done' | 'items_failed' | 'items_skipped'> {
  const states = Object.values(items).map(({ state }) => state)
  return {
    item_count,
    items_done: states.filter((state) => state === 'completed').length,
    items_failed: states.filter((state) => state === 'failed').length,
    items_skipped: states.filter((state) => state === 'skipped').length,
  }
}

function agentOf(block: BlockFold): string | undefined {
  const counts = agentCounts(block)
  return counts === undefined ? undefined : agentCountWords(counts)
}

function isSame(a: BlockStatus, b: BlockStatus): boolean {
  return (Object.keys(b) as (keyof BlockStatus)[]).every((member) => a[member] === b[member])
}

interface Named extends Pick<DagGraph['nodes'][number], 'id'> {
  readonly max_attempts: number
}

/** A node in words, for who does not see it, its state as it is shown: `build, retrying, try 2 of 3, 1 gate failed, on the critical path`. */
export function nodeWords(
  { id, max_attempts }: Named,
  live: BlockStatus & { readonly label: string },
  isCritical: boolean,
): string {
  const { label, attempt, untried, epoch, passed, failed, waived, item_count, items_done, items_skipped, agent } = live
  const words = [
    id,
    label,
    attempt - untried > 1 && `try ${attempt - untried} of ${max_attempts}`,
    untried > 0 && `${untried === 1 ? '1 attempt' : `${untried} attempts`} not counted`,
    epoch > 0 && sentBackWords(epoch),
    passed > 0 && `${gates(passed)} passed`,
    failed > 0 && `${gates(failed)} failed`,
    waived > 0 && `${gates(waived)} waived`,
    item_count !== undefined && `${items_done} of ${item_count} items done`,
    items_skipped > 0 && `${items_skipped} never begun`,
    agent !== undefined && agent,
    isCritical && 'on the critical path',
  ]
  return words.filter((word) => word !== false).join(', ')
}

function gates(count: number): string {
  return count === 1 ? '1 gate' : `${count} gates`
}
