import { Fault } from '../../shared/errors.ts'
import type { Meta, RunKey } from '../../shared/runs/run-store.ts'
import { TRIGGER_LIMITS, type TriggerKey } from '../../shared/triggers/trigger.ts'
import type { Firing } from '../../shared/triggers/trigger-store.ts'
import type { World } from '../../shared/world.ts'

type After = NonNullable<Firing['after']>

/** Runs inside runs, and goals that are tried again: more are walked up nowhere. */
const MOST_STEPS = 100

/** The run a firing comes from, and how many firings lead to the run that it starts: one more than led to that run. */
export async function afterRun(world: Pick<World, 'runs'>, run: RunKey): Promise<After> {
  return { run_id: run.run_id, depth: (await depthOf(world, run)) + 1 }
}

/** Of the run itself, or of the one it is a part of, or tries again by itself. What a person asked for begins anew. */
async function depthOf({ runs }: Pick<World, 'runs'>, { tenant, run_id }: RunKey): Promise<number> {
  let above: string | undefined = run_id
  for (let step = 0; above !== undefined && step < MOST_STEPS; step += 1) {
    const meta: Meta | undefined = await runs.meta({ tenant, run_id: above })
    if (meta?.follows !== undefined) return meta.follows.depth
    above = meta?.parent?.run_id ?? meta?.pivots?.run_id
  }
  return 0
}

/** Why documents that start each other by whatever ways stop doing so; undefined: it is not too deep. */
export function tooDeep({ document, trigger }: TriggerKey, { run_id, depth }: After): Fault | undefined {
  const { depth: most } = TRIGGER_LIMITS
  if (depth <= most) return undefined
  const message = `Cannot fire trigger "${trigger}" of DAG "${document}": run ${run_id} was itself the ${most}th in a row that another one started. At most ${most} are; look whether the documents start each other for ever.`
  return new Fault('InvalidInput', 'trigger_too_deep', message, { facts: { depth, most } })
}
