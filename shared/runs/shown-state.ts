import type { Head, RunState } from './head.ts'
import { readOrdinal } from './ordinal.ts'

/** States that are derived on read, never stored: before a queued run's first block, and while only people can move it on. */
export const SHOWN_STATES = ['pending', 'paused_approval'] as const
export type ShownState = RunState | (typeof SHOWN_STATES)[number]

/**
 * The state people see: `pending` is a queued run; `paused_approval` is a running run in which an approval is pending and no block is claimed,
 * retrying or in flight. It is never stored (decisions, "Events").
 */
export function shownState(head: Head): ShownState {
  if (head.queued === true && head.state === 'running') return 'pending'
  if (head.state !== 'running' || head.running.length > 0) return head.state
  if (!Object.values(head.approvals).some(({ status }) => status === 'pending')) return head.state
  const busy = Object.entries(head.lanes).some(
    ([lane, value]) => /^\d+(\.\d+)?$/.test(lane) && readOrdinal(value).outcome === undefined,
  )
  return busy ? head.state : 'paused_approval'
}
