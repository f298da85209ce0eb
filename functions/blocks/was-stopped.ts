import { readOrdinal } from '../../shared/runs/ordinal.ts'
import type { BlockCall } from './block-call.ts'

/** Somebody stopped this block in an earlier pass of its bounce module. */
export function wasStopped({ lane, raw_lane }: BlockCall): boolean {
  return lane === undefined && raw_lane !== null && readOrdinal(raw_lane).outcome === 'cancelled'
}
