import type { StartRunBody } from '../../shared/api/start-run.ts'
import type { Json } from '../../shared/canonical.ts'
import type { Dag } from '../../shared/dag/dag.ts'
import type { World } from '../../shared/world.ts'
import { freezeGoal } from '../goals/freeze-goal.ts'
import { checkValues, type ValuesFrom } from './check-values.ts'
import type { RunOrder } from './create-run.ts'

/** What a run begins with: its first context, and what it is judged by, whose targets may be among those values. */
export async function startValues(
  world: Pick<World, 'objects'>,
  tenant: string,
  dag: Dag,
  given: StartRunBody,
  earlier?: Readonly<Record<string, Json>>,
  from?: ValuesFrom,
): Promise<Pick<RunOrder, 'context' | 'goal'>> {
  const context = checkValues(dag, given, earlier, from)
  const goal = await freezeGoal(world, tenant, { dag, given: given.goal_contract, values: context })
  return { context, ...(goal === undefined ? {} : { goal }) }
}
