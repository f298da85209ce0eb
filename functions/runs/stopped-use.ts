import { opensChild } from '../../shared/dag/opens-child.ts'
import { NOTHING, plus } from '../../shared/runs/amounts.ts'
import type { EventData } from '../../shared/runs/event.ts'
import type { Head } from '../../shared/runs/head.ts'
import type { Amount } from '../../shared/runs/run-budget.ts'
import type { BlockProjection } from '../../shared/runs/run-items.ts'
import type { Append, RunKey } from '../../shared/runs/run-store.ts'
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
  readonly spent: Amount
}

async function useOf(world: StopWorld, { run, block }: BlockStop, head: Head, claimed?: BlockProjection): Promise<Use> {
  const { reserved = NOTHING, items } = claimed ?? {}
  if (opensChild(block.mode))
    return { reserved, spent: await childUse(world, run, head.children[String(block.index)], claimed) }
  if (items === undefined) return { reserved, spent: reserved }
  const working = (await world.runs.itemProjections(run, block.index)).filter(({ state }) => state === 'running')
  const all = working.reduce((sum, item) => plus(sum, item.reserved ?? NOTHING), reserved)
  return { reserved: all, spent: all }
}

/** A child that is stopped with its block has spent what it has committed by now, at the most. */
async function childUse(
  { runs }: StopWorld,
  { tenant }: RunKey,
  child: string | undefined,
  claimed: BlockProjection | undefined,
): Promise<Amount> {
  if (child === undefined || claimed?.state !== 'running') return NOTHING
  const budget = (await runs.head({ tenant, run_id: child }, []))?.budget
  return budget === undefined ? NOTHING : { tokens: budget.committed_tokens, usd_micros: budget.committed_usd_micros }
}

function spentBy({ tokens, usd_micros }: Amount): Pick<EventData<'block:cancelled'>, 'spent'> {
  return tokens === 0 && usd_micros === 0 ? {} : { spent: { tokens_in: tokens, tokens_out: 0, usd_micros } }
}
