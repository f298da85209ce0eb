import type { GoalEvaluation } from '../../shared/goals/completion.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { unavailableIfMissing } from './pinned-run.ts'
import { allEvents } from './run-log.ts'

type Evaluated = Extract<RunEvent, { readonly type: 'goal:evaluated' }>

/** How a run was judged; undefined = it was not, or not yet. */
export async function readEvaluation(
  world: Pick<World, 'runs' | 'objects'>,
  run: RunKey,
): Promise<{ readonly event: Evaluated; readonly evaluation: GoalEvaluation } | undefined> {
  const events = await allEvents(world, run)
  const event = events.findLast((one): one is Evaluated => one.type === 'goal:evaluated')
  if (event?.data.ref === undefined) return undefined
  const missing = unavailableIfMissing(`the evaluation of run "${run.run_id}"`)
  const body = await world.objects.get(run.tenant, event.data.ref).catch(missing)
  // Content-addressed and verified: it is what decide-completion wrote.
  return { event, evaluation: JSON.parse(Buffer.from(body).toString('utf8')) as GoalEvaluation }
}
