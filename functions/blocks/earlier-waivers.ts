import { composeVerdicts } from '../../shared/gates/compose.ts'
import type { EventData, NewEvent } from '../../shared/runs/event.ts'
import { eventPlace } from '../../shared/runs/event-place.ts'
import { allEvents } from '../runs/all-events.ts'
import type { BlockCall } from './block-call.ts'
import type { Judged } from './judge-block.ts'
import { eventHead } from './own-lane.ts'
import { waivedVerdict } from './waive-gates.ts'

type GateData = EventData<'block:gate'>

/**
 * Pre-gates that were waived in an earlier attempt of this epoch, of the same values, are waived in this one: as an
 * approval, a person is asked once an epoch and not once an attempt.
 */
export async function withEarlierWaivers(call: BlockCall, attempt: number, judged: Judged): Promise<Judged> {
  if (judged.composed.action !== 'ask' || attempt < 2) return judged
  const known = await waivedBefore(call)
  const again = judged.events.flatMap((event): NewEvent[] => {
    if (event.type !== 'block:gate' || !judged.composed.failed.includes(event.data.gate)) return []
    const waived = known.get(keyOf(event.data))
    if (waived === undefined) return []
    return [
      { type: 'block:gate', ...eventHead(call), attempt, data: waivedVerdict(event.data, waived.reason, waived.facts) },
    ]
  })
  if (again.length === 0) return judged
  const names = new Map(again.flatMap(({ type, data }) => (type === 'block:gate' ? [[data.gate, data]] : [])))
  const verdicts = judged.verdicts.map((verdict) => {
    const waived = names.get(verdict.name)
    return waived === undefined ? verdict : { ...verdict, status: 'waived' as const, reason: waived.reason }
  })
  const { block } = call
  const composed = composeVerdicts(block.pre_gates, verdicts, block.gate_composition.pre)
  return { ...judged, verdicts, composed, events: [...judged.events, ...again] }
}

async function waivedBefore({ world, run, block, epoch }: BlockCall): Promise<ReadonlyMap<string, GateData>> {
  const found = new Map<string, GateData>()
  for (const event of await allEvents(world, run)) {
    if (event.type !== 'block:gate' || event.block_id !== block.id || event.item !== undefined) continue
    const isMine = eventPlace(event).epoch === epoch && event.data.phase === 'pre' && event.data.status === 'waived'
    if (isMine) found.set(keyOf(event.data), event.data)
  }
  return found
}

function keyOf({ gate, input_hash }: GateData): string {
  return `${gate}/${input_hash}`
}
