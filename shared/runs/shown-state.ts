import { readOrdinal } from './ordinal.ts'
import type { Head, RunState } from './run-store.ts'

/**
 * The state people see: `paused_approval` is a running run in which an approval is pending and no block is claimed,
 * retrying or in flight. It is never stored (decisions, "Events").
 */
export function shownState(head: Head): RunState | 'paused_approval' {
  if (head.state !== 'running' || head.running.length > 0) return head.state
  if (!Object.values(head.approvals).some(({ status }) => status === 'pending')) return head.state
  const busy = Object.entries(head.lanes).some(
    ([lane, value]) => /^\d+(\.\d+)?$/.test(lane) && readOrdinal(value).outcome === undefined,
  )
  return busy ? head.state : 'paused_approval'
}
