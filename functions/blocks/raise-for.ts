import type { EventData } from '../../shared/runs/event.ts'
import type { Amount, RunBudget } from '../../shared/runs/run-budget.ts'
import { type Caps, runCaps } from '../../shared/runs/run-caps.ts'
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
  const bounds: Bounds = {
    document: runCaps({}, call.dag.budget),
    operator: runCaps(call.world.settings.safety),
    parent: await parentCaps(call),
  }
  const raise: { tokens?: number; usd_micros?: number } = {}
  for (const unit of UNITS) {
    const cap = budget[`cap_${unit}`]
    const needed = budget[`committed_${unit}`] + wanted[unit]
    if (cap === undefined || (needed <= cap && exceeded?.of !== `run_${unit}`)) continue
    const to = raisedTo(unit, cap, needed, bounds)
    if (to === undefined) return undefined
    raise[unit] = to
  }
  return Object.keys(raise).length === 0 ? undefined : raise
}

interface Bounds {
  readonly document: Caps
  readonly operator: Caps
  /** Of the run whose block waits for this one: it has reserved what this one may use. */
  readonly parent: Caps
}

function raisedTo(unit: Unit, cap: number, needed: number, { document, operator, parent }: Bounds): number | undefined {
  const own = document[`cap_${unit}`]
  if (own === undefined || parent[`cap_${unit}`] !== undefined) return undefined
  const to = Math.min(Math.max(cap + own, needed), operator[`cap_${unit}`] ?? Number.MAX_SAFE_INTEGER)
  return to < needed || to <= cap ? undefined : to
}

async function parentCaps({ world, run, meta }: BlockCall): Promise<Caps> {
  if (meta.parent === undefined) return {}
  const { tenant } = run
  return (await world.runs.head({ tenant, run_id: meta.parent.run_id }, []))?.budget ?? {}
}
