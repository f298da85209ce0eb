import { type ActingBlock, isActing } from '../../../shared/agents/agent-items.ts'
import type { Dag } from '../../../shared/dag/dag.ts'
import type { HeadApproval } from '../../../shared/runs/head.ts'
import { approvalEpoch } from '../../../shared/runs/ids.ts'
import { laneOwner } from '../../../shared/runs/lane.ts'
import { questionItem } from '../../../shared/runs/turns-and-calls.ts'
import type { System } from '../system.ts'

type Place = Pick<System, 'raw' | 'objects' | 'runs' | 'heads'>

/** Where a turn or call is at home, as the key it is made with says. */
export interface ItemPlace {
  readonly run_id: string
  readonly block: number
  readonly item: number
  readonly epoch: number
}

/** Undefined of a key that is of no item. */
export function placeOfKey(key: string): ItemPlace | undefined {
  const [run_id = '', lane = '', epoch] = key.split('/')
  const { block, item } = laneOwner(lane) ?? {}
  return block === undefined || item === undefined ? undefined : { run_id, block, item, epoch: Number(epoch) }
}

/** The agent's block, as the document says that its run is pinned to. */
export async function agentAt(
  { raw, objects, runs }: Place,
  { run_id, block }: ItemPlace,
): Promise<ActingBlock | undefined> {
  const key = runs.get(run_id)
  const meta = key && (await raw.meta(key))
  if (meta === undefined) return undefined
  const dag = JSON.parse(Buffer.from(await objects.get(meta.tenant, meta.dag_ref)).toString('utf8')) as Dag
  const found = dag.blocks[block]
  return isActing(found) ? found : undefined
}

/** What people said yes to about this item, as HEAD has it. */
export function yesesAbout({ heads }: Place, { run_id, block, item, epoch }: ItemPlace): readonly HeadApproval[] {
  return Object.entries(heads.get(run_id)?.approvals ?? {}).flatMap(([id, approval]) => {
    const isOwn = approval.block === block && questionItem(id) === item && approvalEpoch(id) === epoch
    return isOwn && approval.status === 'approved' ? [approval] : []
  })
}
