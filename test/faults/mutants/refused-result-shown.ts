import { laneKey } from '../../../shared/runs/lane.ts'
import type { BlockProjection } from '../../../shared/runs/run-store-items.ts'
import type { World } from '../../../shared/world.ts'
import type { Mutant } from '../mutant.ts'
import { withPorts } from './with-ports.ts'

export const refusedResultShown: Mutant = {
  name: 'refused-result-shown',
  what: 'a model is shown what a tool gave, whatever the gate behind it said',
  world(world, name) {
    if (name !== 'run-block') return world
    const { runs } = world
    const itemProjections: World['runs']['itemProjections'] = async (run, ...asked) => {
      const all = await runs.itemProjections(run, ...asked)
      if (!all.some(isRefused)) return all
      const events = await runs.events(run, 0, 10_000)
      return all.map((one) => {
        const output = events.findLast(({ type, id }) => type === 'block:output' && id.startsWith(`${laneOf(one)}/`))
        return isRefused(one) && output?.type === 'block:output' ? asCompleted(one, output.data.outputs) : one
      })
    }
    return withPorts(world, { runs: { ...runs, itemProjections } })
  },
}

function isRefused({ failure, item }: BlockProjection): boolean {
  return item !== undefined && failure?.code === 'post_gate_failed'
}

function laneOf({ block, item }: BlockProjection): string {
  return laneKey({ block, ...(item === undefined ? {} : { item }) })
}

function asCompleted(one: BlockProjection, outputs: NonNullable<BlockProjection['outputs']>): BlockProjection {
  const { failure: _, ...rest } = one
  return { ...rest, state: 'completed', outputs }
}
