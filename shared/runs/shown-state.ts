import type { Head, RunState } from './head.ts'
import { laneOwner } from './lane-key.ts'
import { isAsked } from './legs.ts'
import { readOrdinal } from './ordinal.ts'

/** States that are derived on read, never stored: before a queued run's first block, and while only people can move it on. */
export const SHOWN_STATES = ['pending', 'paused_approval'] as const
export type ShownState = RunState | (typeof SHOWN_STATES)[number]

/**
 * The state people see: `pending` is a queued run; `paused_approval` is a running run in which an approval is pending and
 * no block is claimed, retrying or in flight, but for attempts that wait for such an answer themselves. It is never
 * stored.
 */
export function shownState(head: Head): ShownState {
  if (head.queued === true && head.state === 'running') return 'pending'
  if (head.state !== 'running' || head.running.length > 0) return head.state
  const asked = Object.values(head.approvals).flatMap(({ status, block }) => (status === 'pending' ? [block] : []))
  if (asked.length === 0) return head.state
  return isBusy(head, new Set(asked)) ? head.state : 'paused_approval'
}

/** A fan-out whose items wait for an answer waits with them: further ones begin behind those. */
function isBusy({ lanes }: Head, asked: ReadonlySet<number>): boolean {
  const open = Object.entries(lanes).flatMap(([key, lane]) => {
    const owner = laneOwner(key)
    if (owner === undefined || readOrdinal(lane).outcome !== undefined) return []
    return [{ ...owner, waits: isAsked(lane) && asked.has(owner.block) }]
  })
  const waiting = new Set(open.flatMap(({ block, item, waits }) => (waits && item !== undefined ? [block] : [])))
  return open.some(({ block, item, waits }) => !waits && (item !== undefined || !waiting.has(block)))
}
