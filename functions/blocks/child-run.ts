import { childRunId } from '../../shared/runs/child-run-id.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { BlockCall } from './block-call.ts'

/** The child run of one attempt of this block, whether it is there yet or not. */
export function childRun({ run, block, epoch }: BlockCall, attempt: number): RunKey {
  const { tenant, run_id } = run
  return { tenant, run_id: childRunId(tenant, { run_id, block: block.index, epoch, attempt }) }
}

/**
 * Whether this attempt was claimed with its child. One claimed without was over before that, by its inputs or its
 * pre-gates, or took a result over; who claimed it records that end, and what is found later may be another.
 */
export function opensChild(call: BlockCall, attempt: number): boolean {
  return call.head.children[call.lane_key] === childRun(call, attempt).run_id
}
