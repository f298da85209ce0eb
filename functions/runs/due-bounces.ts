import type { BounceModule, ModuleRule } from '../../shared/dag/bounce-modules.ts'
import { REJECTION_GATE } from '../../shared/dag/rejection-gate.ts'
import { blockEpoch, blockLane, blockOutcome } from '../../shared/runs/block-lane.ts'
import { dueRule } from '../../shared/runs/due-bounce.ts'
import type { Head } from '../../shared/runs/head.ts'
import { approvalId } from '../../shared/runs/ids.ts'
import type { BlockProjection } from '../../shared/runs/run-items.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { readProjections } from '../blocks/read-outputs.ts'
import type { Pinned } from './read-pinned.ts'

/** Failures of one pass beyond these are looked at in the next one. */
const AT_ONCE = 10

/** A rule that is due, and what its gates said. */
export interface DueBounce {
  readonly rule: ModuleRule
  readonly failure: NonNullable<BlockProjection['failure']>
}

/** The bounces of a module whose blocks have all ended: of each block that failed, the first rule that is due. */
export async function dueBounces(
  world: Pick<World, 'runs' | 'objects'>,
  run: RunKey,
  pinned: Pinned,
  head: Head,
  module: BounceModule,
): Promise<readonly DueBounce[]> {
  const fired = head.modules[String(module.key)]
  const owners = [...new Set(module.rules.map(({ block }) => block))]
  const failed = owners.filter((id) => blockOutcome(pinned, head, id) === 'failed')
  const lanes = new Map(failed.map((id) => [pinned.index.get(id) ?? -1, blockLane(pinned, head, id) ?? 0]))
  const projections = await readProjections(world, run, lanes)
  const due = [...lanes.keys()].flatMap((at): readonly DueBounce[] => {
    const block = pinned.dag.blocks[at]
    const failure = projections.get(at)?.failure
    if (block === undefined || failure === undefined) return []
    const rule = dueRule({ module, fired, block, gates: failure.gates ?? [] })
    return rule === undefined ? [] : [{ rule, failure }]
  })
  return Promise.all(due.slice(0, AT_ONCE).map((bounce) => inPersonsWords(world, run, { pinned, head }, bounce)))
}

/** Who is sent back by a person is told all they said; a reason has room for its beginning. */
async function inPersonsWords(
  { objects }: Pick<World, 'objects'>,
  { tenant, run_id }: RunKey,
  { pinned, head }: { readonly pinned: Pinned; readonly head: Head },
  { rule, failure }: DueBounce,
): Promise<DueBounce> {
  if (rule.bounce.when_gate !== REJECTION_GATE || failure.code !== 'approval_rejected') return { rule, failure }
  const id = approvalId(run_id, pinned.index.get(rule.block) ?? -1, blockEpoch(pinned, head, rule.block))
  const ref = head.approvals[id]?.feedback_ref
  if (ref === undefined) return { rule, failure }
  const words = Buffer.from(await objects.get(tenant, ref)).toString('utf8')
  return { rule, failure: { ...failure, feedback: [words] } }
}
