import { childRunId } from '../../shared/runs/child-run-id.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { BlockCall } from './block-call.ts'

/** The child run of one attempt of this block, whether it is there yet or not. */
export function childRun({ run, block, epoch }: BlockCall, attempt: number): RunKey {
  const { tenant, run_id } = run
  return { tenant, run_id: childRunId(tenant, { run_id, block: block.index, epoch, attempt }) }
}
