import type { EventData } from '../../shared/runs/event.ts'
import type { Amount, RunBudget } from '../../shared/runs/run-budget.ts'
import { type Caps, documentCaps, runCaps } from '../../shared/runs/run-caps.ts'
import type { BlockCall } from './block-call.ts'

type Raise = NonNullable<EventData<'block:asked'>['raise']>
type Unit = keyof Amount

const UNITS: readonly Unit[] = ['tokens', 'usd_micros']

/**
 * The caps of the run with which the refused call would fit: the document's cap once more on top, or more where that is
 * not enough. undefined = nobody may raise them so far: the operator's caps hold whatever a person says, and a child run
 * works on what its parent has reserved for it.
 */
export async function raiseFor(call: BlockCall, budget: RunBudget): Promise<Raise | undefined> {
  const { wanted, exceeded } = call.meter
  if (wanted === undefined) return undefined
  const document = documentCaps(call.dag.budget)
  const highest = runCaps(call.world.settings.safety)
  const parents = await parentCaps(call)
  const raise: { tokens?: number; usd_micros?: number } = {}
  for (const unit of UNITS) {
    const cap = budget[`cap_${unit}`]
    const needed = budget[`committed_${unit}`] + wanted[unit]
    const isTight = cap !== undefined && (needed > cap || exceeded?.of === `run_${unit}`)
    if (!isTight) continue
    const own = document[`cap_${unit}`]
    if (own === undefined || parents[`cap_${unit}`] !== undefined) return undefined
    const to = Math.min(Math.max(cap + own, needed), highest[`cap_${unit}`] ?? Number.MAX_SAFE_INTEGER)
    if (to < needed || to <= cap) return undefined
    raise[unit] = to
  }
  return Object.keys(raise).length === 0 ? undefined : raise
}

async function parentCaps({ world, run, meta }: BlockCall): Promise<Caps> {
  if (meta.parent === undefined) return {}
  const { tenant } = run
  return (await world.runs.head({ tenant, run_id: meta.parent.run_id }, []))?.budget ?? {}
}
