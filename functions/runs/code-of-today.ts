import type { Dag } from '../../shared/dag/dag.ts'
import { bindStepsAgain, stepsBound } from '../../shared/document/bind-agents.ts'
import { Fault } from '../../shared/errors.ts'
import type { World } from '../../shared/world.ts'

interface Linked {
  readonly doing: 'retry' | 'pivot'
  /** Blocks that need no code any more; `all`: nobody is there to be told. */
  readonly asItWas: ReadonlySet<string> | 'all'
}

/**
 * The document of a run for the one that goes on from it, with the code its steps have now: who mended a step means that. A
 * step that cannot be taken any more is as it was; Fault InvalidInput unknown_step where its block still needs it.
 */
export async function withCodeOfToday(world: Pick<World, 'steps'>, dag: Dag, { doing, asItWas }: Linked): Promise<Dag> {
  const bound = stepsBound(dag)
  if (bound.size === 0) return dag
  const known = await world.steps.describe([...new Set(bound.values())])
  for (const [id, name] of bound) {
    const now = known[name]
    if (now === undefined || !('problem' in now) || asItWas === 'all' || asItWas.has(id)) continue
    const hint = now.hint === undefined ? '' : ` ${now.hint}`
    const message = `Cannot ${doing}: block "${id}" names "${name}", which cannot be taken: ${now.problem.replace(/\.$/, '')}.${hint}`
    throw new Fault('InvalidInput', 'unknown_step', message)
  }
  return bindStepsAgain(dag, known)
}
