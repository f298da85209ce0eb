import type { Block } from '../../shared/dag/dag.ts'
import { opensChild } from '../../shared/dag/opens-child.ts'
import { NOTHING, plus } from '../../shared/runs/amounts.ts'
import type { Append } from '../../shared/runs/append.ts'
import type { EventData } from '../../shared/runs/event.ts'
import type { Head } from '../../shared/runs/head.ts'
import { laneOwner } from '../../shared/runs/lane-key.ts'
import { readOrdinal } from '../../shared/runs/ordinal.ts'
import type { Amount, Spent } from '../../shared/runs/run-budget.ts'
import type { BlockProjection } from '../../shared/runs/run-items.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import { freshItems } from '../blocks/fresh-items.ts'
import { settled } from '../blocks/record-events.ts'
import type { BlockStop, StopWorld } from './block-stop-append.ts'

interface StoppedUse {
  /** As block:cancelled says it. */
  readonly told: Pick<EventData<'block:cancelled'>, 'spent'>
  readonly settle: Pick<Append, 'settle'>
}

/** What the calls of a block have used when it is stopped, and what that frees. */
export async function stoppedUse(
  world: StopWorld,
  stop: BlockStop,
  head: Head,
  claimed?: BlockProjection,
): Promise<StoppedUse> {
  const { reserved, spent } = await useOf(world, stop, head, claimed)
  return { told: spentBy(spent), settle: settled(reserved, spent) }
}

interface Use {
  readonly reserved: Amount
  /** Nobody will know what calls under way used: their estimates stand for it. */
  readonly spent: Spent
}

async function useOf(world: StopWorld, { run, block }: BlockStop, head: Head, claimed?: BlockProjection): Promise<Use> {
  const { reserved = NOTHING, items } = claimed ?? {}
  if (opensChild(block.mode))
    return { reserved, spent: await childUse(world, run, head.children[String(block.index)], claimed) }
  if (items === undefined) return { reserved, spent: reserved }
  const working = await freshItems(world, run, block.index, workingItems(block, head))
  const all = [...working.values()].reduce((sum, item) => plus(sum, item.reserved ?? NOTHING), reserved)
  return { reserved: all, spent: all }
}

/** Lanes of its items that have not ended. */
function workingItems(block: Block, { lanes }: Head): ReadonlyMap<number, number> {
  const all = Object.entries(lanes).map(([lane, at]) => ({ ...laneOwner(lane), at }))
  const own = all.filter(({ block: of, at }) => of === block.index && readOrdinal(at).outcome === undefined)
  return new Map(own.flatMap(({ item, at }) => (item === undefined ? [] : [[item, at] as const])))
}

/** A child that is stopped with its block has spent what it has committed by now, at the most. */
async function childUse(
  { runs }: StopWorld,
  { tenant }: RunKey,
  child: string | undefined,
  claimed: BlockProjection | undefined,
): Promise<Spent> {
  if (child === undefined || claimed?.state !== 'running') return NOTHING
  const budget = (await runs.head({ tenant, run_id: child }, []))?.budget
  if (budget === undefined) return NOTHING
  const { committed_tokens: tokens, committed_usd_micros: usd_micros, unpriced_tokens } = budget
  return { tokens, usd_micros, ...(unpriced_tokens ? { unpriced_tokens } : {}) }
}

function spentBy({ tokens, usd_micros, ...rest }: Spent): Pick<EventData<'block:cancelled'>, 'spent'> {
  return tokens === 0 && usd_micros === 0 ? {} : { spent: { tokens_in: tokens, tokens_out: 0, usd_micros, ...rest } }
}
