import type { Json } from '../../shared/canonical.ts'
import { approvalId } from '../../shared/runs/ids.ts'
import type { BlockCall } from './block-call.ts'

/** Output values of a `mode: approval` block: what its decision in HEAD says. */
export async function decisionOutputs(call: BlockCall): Promise<Readonly<Record<string, Json>>> {
  const { world, run, block, head, epoch } = call
  const decision = head.approvals[approvalId(run.run_id, block.index, epoch)]
  const feedback = decision?.feedback_ref
  const text = feedback === undefined ? '' : Buffer.from(await world.objects.get(run.tenant, feedback)).toString('utf8')
  return { approved: true, decided_by: decision?.decided_by ?? 'timeout', ...(text === '' ? {} : { feedback: text }) }
}
