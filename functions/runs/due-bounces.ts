import type { BounceModule, ModuleRule } from '../../shared/dag/bounce-modules.ts'
import { blockLane, blockOutcome } from '../../shared/runs/block-lane.ts'
import { dueRule } from '../../shared/runs/due-bounce.ts'
import type { Head } from '../../shared/runs/head.ts'
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
  return due.slice(0, AT_ONCE)
}
