import type { StoredValue } from '../../shared/runs/event.ts'
import { laneKey } from '../../shared/runs/lane-key.ts'
import { type Outcome, readOrdinal } from '../../shared/runs/ordinal.ts'
import type { BlockProjection } from '../../shared/runs/run-items.ts'
import type { BegunItems } from './begun-items.ts'
import type { BlockCall } from './block-call.ts'
import { recoverProjection } from './recover-projection.ts'

/** How one item of a foreach block ended. */
export interface ItemEnd {
  readonly item: number
  /** undefined: its machine state ended without a record of it. */
  readonly outcome: Outcome | undefined
  /** Empty unless it completed. */
  readonly outputs: Readonly<Record<string, StoredValue>>
  /** Why it did not complete. */
  readonly why: string
}

/** The ends of all items, in item order. HEAD decides: a projection behind its lane is made again from the events. */
export async function readItems(call: BlockCall, { count }: BegunItems): Promise<readonly ItemEnd[]> {
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
    const projection = isNew || outcome === undefined ? seen : await recover(call, item, lane)
    ends.push(endOf(item, outcome, projection))
  }
  return ends
}

async function recover({ world, run, block }: BlockCall, item: number, lane: number): Promise<BlockProjection> {
  const recovered = await recoverProjection(world, run, { block: block.index, item }, lane)
  await world.runs.putProjection(run, recovered)
  return recovered
}

function endOf(item: number, outcome: ItemEnd['outcome'], projection: BlockProjection | undefined): ItemEnd {
  if (outcome === 'completed') return { item, outcome, outputs: projection?.outputs ?? {}, why: '' }
  const why = outcome === undefined ? 'it did not end' : (projection?.failure?.reason ?? 'its record names no reason')
  return { item, outcome, outputs: {}, why }
}
