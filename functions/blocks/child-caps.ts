import type { Dag } from '../../shared/dag/dag.ts'
import { Fault } from '../../shared/errors.ts'
import { NOTHING } from '../../shared/runs/amounts.ts'
import { isAsked } from '../../shared/runs/legs.ts'
import { PHASE, readOrdinal } from '../../shared/runs/ordinal.ts'
import type { Amount } from '../../shared/runs/run-budget.ts'
import { type Caps, runCaps, smallest } from '../../shared/runs/run-caps.ts'
import type { BlockCall } from './block-call.ts'
import { blockExceeded, runExceeded } from './budget-refusal.ts'
import { capsOf } from './caps-of.ts'
import { leftOfBlock } from './past-use.ts'
import { readOwnProjection } from './read-outputs.ts'

/**
 * What a child run may use in the units this run or block has caps in: all that is left of them, or the child's own
 * caps where those are smaller. Reserved with the claim; a claimed attempt says what it reserved.
 */
export async function childCaps(call: BlockCall, child: Pick<Dag, 'budget'>): Promise<Caps> {
  const caps = capsOf(call)
  if (caps === undefined) return {}
  const { committed_tokens, committed_usd_micros } = call.head.budget
  const run = lessened(caps.run, { tokens: committed_tokens, usd_micros: committed_usd_micros })
  const claimed = await claimedReserve(call)
  const left = smallest(run, await leftOfBlock(call, caps.block))
  if (claimed !== undefined) return ofUnits(left, claimed)
  const own = ofUnits(left, smallest(left, runCaps(call.world.settings.safety, child.budget)))
  if (Object.values(own).some((cap) => cap < 1)) await refuseChild(call, caps.block)
  return own
}

/** What a child's caps reserve of its parent's. */
export function reserveOf({ cap_tokens = 0, cap_usd_micros = 0 }: Caps): Amount {
  return { tokens: cap_tokens, usd_micros: cap_usd_micros }
}

async function claimedReserve(call: BlockCall): Promise<Caps | undefined> {
  const { lane } = call
  if (lane === undefined || isAsked(lane) || readOrdinal(lane).phase === PHASE.retrying) return undefined
  const { tokens, usd_micros } = (await readOwnProjection(call, lane))?.reserved ?? NOTHING
  return { cap_tokens: tokens, cap_usd_micros: usd_micros }
}

/** In the units of `these` only. */
function ofUnits(these: Caps, { cap_tokens, cap_usd_micros }: Caps): Caps {
  return {
    ...(these.cap_tokens === undefined || cap_tokens === undefined ? {} : { cap_tokens }),
    ...(these.cap_usd_micros === undefined || cap_usd_micros === undefined ? {} : { cap_usd_micros }),
  }
}

function lessened({ cap_tokens, cap_usd_micros }: Caps, { tokens, usd_micros }: Amount): Caps {
  return {
    ...(cap_tokens === undefined ? {} : { cap_tokens: cap_tokens - tokens }),
    ...(cap_usd_micros === undefined ? {} : { cap_usd_micros: cap_usd_micros - usd_micros }),
  }
}

/** Nothing is left for it; but others may have given back what they had reserved since HEAD was read. */
async function refuseChild(call: BlockCall, own: Caps): Promise<never> {
  const wish = { what: 'open a child run', wanted: LEAST, short: LEAST, mine: NOTHING, flying: NOTHING }
  const isCapped = own.cap_tokens !== undefined || own.cap_usd_micros !== undefined
  const refusal = (await runExceeded(call, wish)) ?? (isCapped ? await blockExceeded(call, wish) : undefined)
  if (refusal === undefined) {
    const message = `Cannot open a child run for block "${call.block.id}": what is left of the budget changed meanwhile. It is tried again.`
    throw new Fault('Unavailable', 'store_busy', message)
  }
  call.meter.exceeded = refusal.exceeded
  call.meter.wanted = refusal.wanted
  throw refusal.fault
}

const LEAST = { tokens: 1, usd_micros: 1 }
