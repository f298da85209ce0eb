import { NOTHING } from '../../shared/runs/amounts.ts'
import type { Append } from '../../shared/runs/append.ts'
import type { EventData, NewEvent } from '../../shared/runs/event.ts'
import { approvalId } from '../../shared/runs/ids.ts'
import { workingLeg } from '../../shared/runs/legs.ts'
import { ordinal, PHASE } from '../../shared/runs/ordinal.ts'
import type { Amount } from '../../shared/runs/run-budget.ts'
import type { BlockProjection } from '../../shared/runs/run-items.ts'
import type { BlockCall } from './block-call.ts'
import type { OpenAttempt } from './open-attempt.ts'
import { eventHead, laneHead, ownerOf } from './own-lane.ts'
import type { PreparedAttempt } from './prepare-attempt.ts'
import { LEASE_MS } from './watch-attempt.ts'
import { whileUnasked } from './while-unasked.ts'

/**
 * The append that claims an attempt: block:started with holder and lease, if the lane is as it was read. One that a
 * person let go on is claimed anew, in its next leg: block:resumed.
 */
export function claimAppend(call: BlockCall, open: OpenAttempt, prepared: PreparedAttempt, holder: string): Append {
  const { world, resumed } = call
  const { attempt } = open
  const at = new Date(world.clock.now()).toISOString()
  const place = placeOf(call, attempt)
  const reserve = [prepared.reserve ?? NOTHING].filter(({ tokens, usd_micros }) => tokens + usd_micros > 0)
  const held = { holder, lease_until: leaseOf(call, prepared), ...childOf(prepared) }
  return {
    ...laneHead(call),
    ordinal: place,
    // Verdicts that were waived may go before it, in steps of their own.
    guard: resumed === undefined ? { is: open.lane } : { below: place },
    while: whileUnasked(call),
    at,
    events: [...beginning(call, attempt, prepared, held), ...reserve.map((data) => reservedBy(call, attempt, data))],
    ...(reserve[0] === undefined ? {} : { reserve: reserve[0] }),
    ...slotOf(call),
    ...(prepared.child === undefined ? {} : { child: { lane: call.lane_key, run_id: prepared.child } }),
    ...(isRecordedLater(call, prepared) ? {} : openingOf(call, prepared)),
    projection: {
      ...ownerOf(call),
      ordinal: place,
      attempt,
      state: 'running',
      ...held,
      inputs_hash: prepared.hash,
      ...(reserve[0] === undefined ? {} : { reserved: reserve[0] }),
      ...(open.failure === undefined ? {} : { failure: open.failure }),
      ...(open.untried === undefined ? {} : { untried: open.untried }),
      ...(prepared.items === undefined ? {} : { items: { ...prepared.items, since: at } }),
    },
  }
}

/** Whether the verdicts of the pre-gates come in an append of their own, after the claim. */
export function isRecordedLater({ resumed }: BlockCall, { pre }: PreparedAttempt): boolean {
  return resumed === undefined && pre.events.length > 0
}

function placeOf({ epoch, lane, resumed }: BlockCall, attempt: number): number {
  const leg = resumed === undefined ? 0 : workingLeg(lane ?? 0)
  return ordinal({ epoch, attempt, leg, phase: PHASE.claimed })
}

type Held = Pick<EventData<'block:started'>, 'holder' | 'lease_until' | 'child' | 'binding_ref'>

function beginning(
  call: BlockCall,
  attempt: number,
  { items, hash, context_version, ...used }: PreparedAttempt,
  held: Held,
): readonly NewEvent[] {
  const { resumed } = call
  const data = { ...held, ...(items === undefined ? {} : { items }) }
  const head = { ...eventHead(call), attempt }
  if (resumed !== undefined) {
    return [{ type: 'block:resumed', ...head, data: { approval_id: resumed.ask.approval_id, ...data } }]
  }
  const started = { inputs_hash: hash, context_version, ...standsOn(used), ...data }
  return [...readyOf(call), { type: 'block:started', ...head, data: started }]
}

function standsOn({ decisions, decisions_ref }: Pick<PreparedAttempt, 'decisions' | 'decisions_ref'>) {
  if (decisions_ref !== undefined) return { decisions_ref }
  return decisions === undefined ? {} : { decisions: [...decisions] }
}

/** Items begin with the last append of the claim: the one of the pre-gates' verdicts, if there are any. */
export function openingOf(
  { block }: BlockCall,
  { items, failure }: PreparedAttempt,
): Pick<Append, 'open_items'> | Record<never, never> {
  return items === undefined || failure !== undefined ? {} : { open_items: { block: block.index } }
}

/**
 * A child run holds the attempt as long as it may live itself. A foreach block needs its lease only until its items have
 * begun: then HEAD says so, and nobody asks for it.
 */
function leaseOf({ world, head }: BlockCall, { child }: PreparedAttempt): string {
  if (child !== undefined) return head.deadline_at
  return new Date(world.clock.now() + LEASE_MS).toISOString()
}

function childOf({ child, binding_ref }: PreparedAttempt): Pick<BlockProjection, 'child' | 'binding_ref'> {
  if (child === undefined) return {}
  return { child, ...(binding_ref === undefined ? {} : { binding_ref }) }
}

/** A foreach block takes no place among what may run at once: each of its items does. */
function slotOf(call: BlockCall): Pick<Append, 'start'> {
  if (call.block.foreach !== undefined) return {}
  return { start: { ...ownerOf(call), limit: call.meta.options.max_parallel } }
}

/** block:ready comes once an epoch: with the approval's request if there is one, else with the first start. */
function readyOf({ run, block, item, lane, head, epoch }: BlockCall): readonly NewEvent[] {
  const wasReady = item !== undefined || lane !== undefined
  if (wasReady || head.approvals[approvalId(run.run_id, block.index, epoch)] !== undefined) return []
  return [{ type: 'block:ready', block_id: block.id, data: {} }]
}

/** A child run works on what its parent reserves here. */
function reservedBy(call: BlockCall, attempt: number, data: Amount): NewEvent {
  return { type: 'budget:reserved', ...eventHead(call), attempt, data: { ...data } }
}
