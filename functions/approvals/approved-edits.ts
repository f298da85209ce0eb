import type { Json } from '../../shared/canonical.ts'
import { approvalId } from '../../shared/runs/ids.ts'
import type { BlockCall } from '../blocks/block-call.ts'

/** The inputs that the person who approved this block changed; they were checked when they decided. */
export async function approvedEdits({
  world,
  run,
  block,
  head,
  epoch,
}: BlockCall): Promise<Readonly<Record<string, Json>>> {
  const { status, edits_ref } = head.approvals[approvalId(run.run_id, block.index, epoch)] ?? {}
  if (status !== 'approved' || edits_ref === undefined) return {}
  return JSON.parse(Buffer.from(await world.objects.get(run.tenant, edits_ref)).toString('utf8'))
}
