import { NOTHING } from '../../shared/runs/amounts.ts'
import type { NewEvent } from '../../shared/runs/event.ts'
import { approvalId } from '../../shared/runs/ids.ts'
import { ordinal, PHASE } from '../../shared/runs/ordinal.ts'
import type { Amount } from '../../shared/runs/run-budget.ts'
import type { BlockProjection } from '../../shared/runs/run-items.ts'
import type { Append } from '../../shared/runs/run-store.ts'
import type { BlockCall } from './block-call.ts'
import type { OpenAttempt } from './open-attempt.ts'
import { eventHead, laneHead, ownerOf } from './own-lane.ts'
import type { PreparedAttempt } from './prepare-attempt.ts'
import { LEASE_MS } from './watch-attempt.ts'

/** The append that claims an attempt: block:started with holder and lease, if the lane is as it was read. */
export function claimAppend(call: BlockCall, open: OpenAttempt, prepared: PreparedAttempt, holder: string): Append {
  const { world, epoch } = call
  const { attempt, failure } = open
  const { items, hash, context_version } = prepared
  const now = world.clock.now()
  const at = new Date(now).toISOString()
  const place = ordinal({ epoch, attempt, phase: PHASE.claimed })
  const reserve = [prepared.reserve ?? NOTHING].filter(({ tokens, usd_micros }) => tokens + usd_micros > 0)
  const held = { holder, lease_until: leaseOf(call, prepared), ...childOf(prepared) }
  const data = { inputs_hash: hash, context_version, ...held, ...(items === undefined ? {} : { items }) }
  const started: NewEvent = { type: 'block:started', ...eventHead(call), attempt, data }
  const before: Partial<BlockProjection> = {
    inputs_hash: hash,
    ...(reserve[0] === undefined ? {} : { reserved: reserve[0] }),
    ...(failure === undefined ? {} : { failure }),
    ...(items === undefined ? {} : { items: { ...items, since: at } }),
  }
  return {
    ...laneHead(call),
    ordinal: place,
    guard: { is: open.lane },
    at,
    events: [...readyOf(call), started, ...reserve.map((data) => reservedBy(call, attempt, data))],
    ...(reserve[0] === undefined ? {} : { reserve: reserve[0] }),
    ...slotOf(call),
    ...(prepared.child === undefined ? {} : { child: { lane: call.lane_key, run_id: prepared.child } }),
    ...(prepared.pre.events.length > 0 ? {} : openingOf(call, prepared)),
    projection: { ...ownerOf(call), ordinal: place, attempt, state: 'running', ...held, ...before },
  }
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

function childOf({ child }: PreparedAttempt): Pick<BlockProjection, 'child'> {
  return child === undefined ? {} : { child }
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
