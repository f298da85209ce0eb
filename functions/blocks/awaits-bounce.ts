import { blockLane, blockOutcome } from '../../shared/runs/block-lane.ts'
import { dueRule } from '../../shared/runs/due-bounce.ts'
import type { BlockCall } from './block-call.ts'
import { bounceCase } from './bounce-case.ts'
import { readProjections } from './read-outputs.ts'

/**
 * Whether a block before this one in its bounce module has failed and is about to be sent back: then there is nothing to
 * do in this pass, and nothing to record. All blocks before this one have ended, so each pass answers this the same way.
 */
export async function awaitsBounce(call: BlockCall): Promise<boolean> {
  const { world, run, dag, index, head, module, block } = call
  if (module === undefined) return false
  const before = blocksBefore(call, block.id)
  const owners = new Set(module.rules.map((rule) => rule.block))
  const failed = [...owners].filter((id) => before.has(id) && blockOutcome(call, head, id) === 'failed')
  const lanes = new Map(failed.map((id) => [index.get(id) ?? -1, blockLane(call, head, id) ?? 0]))
  for (const [at, projection] of await readProjections(world, run, lanes)) {
    const owner = dag.blocks[at]
    const gates = projection.failure?.gates ?? []
    if (owner !== undefined && dueRule({ ...bounceCase(call, gates), block: owner }) !== undefined) return true
  }
  return false
}

/** Ids of the blocks of the module that come before one of them, near or far. */
function blocksBefore({ dag, index, module }: BlockCall, id: string): ReadonlySet<string> {
  const members = new Set(module?.blocks)
  const upstreamOf = (of: string) => dag.blocks[index.get(of) ?? -1]?.upstream ?? []
  const before = new Set(upstreamOf(id).filter((other) => members.has(other)))
  for (const one of before) for (const other of upstreamOf(one)) if (members.has(other)) before.add(other)
  return before
}
