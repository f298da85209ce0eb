import { PURE_HANDLERS } from '../../shared/dag/handlers.ts'
import type { Amount } from '../../shared/runs/budget.ts'
import type { Appended } from '../../shared/runs/run-store.ts'
import { recordEvents } from '../record/record-events.ts'
import type { BlockCall } from './block-call.ts'
import type { KeptClaim } from './meter.ts'

/**
 * The claim of work that does nothing beyond its answer goes to the store together with its end: two appends, the same
 * as one after the other, in one commit. A place that dies before that has claimed nothing, and the work is done again.
 * Where the work takes longer than a moment its claim is written while it is under way (watch.ts).
 */
export function mayClaimWithEnd(
  { world, block, resumed, item, acting }: BlockCall,
  { reserve }: { readonly reserve?: Amount },
): boolean {
  if (world.runs.in_order !== true || block.mode !== 'deterministic' || !PURE_HANDLERS.has(block.handler)) return false
  const begins = resumed === undefined && acting === undefined && (block.foreach === undefined || item !== undefined)
  const judged = block.approval !== undefined || block.pre_gates.length + block.post_gates.length > 0
  return begins && !judged && reserve === undefined
}

/** Writes the claim that was kept back, if there is one. */
export async function writeKeptClaim({ world, meter }: BlockCall): Promise<Appended | undefined> {
  const { kept } = meter
  if (kept === undefined) return undefined
  kept.written ??= world.runs.append(kept.append)
  return kept.written
}

type Recording = Parameters<typeof recordEvents>

/** The events that end an attempt, with its claim if that was kept back. */
export async function recordWithClaim(
  call: BlockCall,
  ...[step, events, final, reserved]: Recording extends [unknown, ...infer Rest] ? Rest : never
): Promise<Appended> {
  const { world, meter } = call
  const { kept } = meter
  const record = (after?: number) => recordEvents(world, step, events, final, reserved, after)
  if (kept === undefined) return record()
  meter.kept = undefined
  if (kept.written !== undefined) return claimInTurn(call, kept, await kept.written, record)
  const repeatable = (after: number) =>
    recordEvents(world, step, events, { ...final, repeatable: true }, reserved, after)
  // Both at once: this store takes them in this order, and the end only where the claim stands.
  const [claim, end] = await Promise.all([
    world.runs.append({ ...kept.append, repeatable: true }),
    repeatable(kept.append.ordinal),
  ])
  if (!claim.ok) return claimInTurn(call, kept, claim, record)
  // Something on the way there may have held the claim up for longer than the end, which found no claim then.
  const isEarly = !end.ok && end.because === 'already'
  return isEarly ? record(kept.append.ordinal) : end
}

/** The end, once the claim stands; one that found the run full is tried again when that has room. */
async function claimInTurn(
  call: BlockCall,
  { append, slot }: KeptClaim,
  first: Appended,
  record: () => Promise<Appended>,
): Promise<Appended> {
  let claim = first
  while (!claim.ok) {
    if (claim.because !== 'full') return claim
    if ((await slot()) === 'ended') return { ok: false, because: 'terminal' }
    claim = await call.world.runs.append(append)
  }
  return record()
}
