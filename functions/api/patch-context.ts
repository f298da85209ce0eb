import { RUN_DATA_ROUTES } from '../../shared/api/run-data-routes.ts'
import { Fault } from '../../shared/errors.ts'
import type { Head } from '../../shared/runs/head.ts'
import type { ContextItem } from '../../shared/runs/run-items.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import { TaskSchema } from '../../shared/tasks/task.ts'
import type { World } from '../../shared/world.ts'
import { changeHandler } from '../change-handler.ts'
import { requireRun } from '../require-run.ts'
import { checkContextSize, recordContext } from '../runs/context-version.ts'

/**
 * Compare-and-set on the version. The values are stored first and named by their event after: a crash in between
 * leaves a version without event, which the next change records before its own (with no keys, they are not known).
 */
export const handler = changeHandler({
  name: 'patch-context',
  schema: RUN_DATA_ROUTES['patch-context'],
  run: async (call, world) => {
    const { set, if_version } = call.body
    const { run, head } = await requireRun(world, call)
    if (head.state !== 'running') throw ended(run, head.state)
    const before = (await world.runs.context(run)) ?? { version: 0, values: {} }
    if (before.version !== if_version) throw stale(if_version, before.version)
    refuseTask(run, before, set)
    if ((head.lanes.ctx ?? 0) < before.version) await record(world, run, before.version, [])
    const after = { version: if_version + 1, values: { ...before.values, ...set } }
    checkContextSize(after)
    if (!(await world.runs.putContext(run, after, if_version))) throw await staleNow(world, run, if_version)
    await record(world, run, after.version, Object.keys(set))
    return { json: after }
  },
})

async function record(world: World, run: RunKey, version: number, keys: readonly string[]): Promise<void> {
  const done = await recordContext(world, run, version, keys)
  if (!done.ok && done.because === 'terminal') throw ended(run, 'over')
}

/** A task that blocks move stands behind gates and a review: nobody writes past them, nor before them what looks so. */
function refuseTask(run: RunKey, before: ContextItem, set: ContextItem['values']): void {
  if (!Object.hasOwn(set, 'task')) return
  if (![before.values.task, set.task].some((task) => TaskSchema.safeParse(task).success)) return
  const message = `Cannot change "task" in the context of run "${run.run_id}": its blocks move it, each move past its gates. Change other keys, or start a run that continues this one.`
  throw new Fault('Conflict', 'task_is_moved', message)
}

function ended(run: RunKey, state: Head['state'] | 'over'): Fault {
  return new Fault('Conflict', 'run_ended', `Cannot change the context of run "${run.run_id}": it is already ${state}.`)
}

async function staleNow(world: World, run: RunKey, ifVersion: number): Promise<Fault> {
  return stale(ifVersion, (await world.runs.context(run))?.version)
}

function stale(ifVersion: number, version: number | undefined): Fault {
  const message = `Cannot change the context: it has version ${version}, you sent if_version ${ifVersion}. Read it again and repeat.`
  return new Fault('Conflict', 'stale_version', message, { facts: { version } })
}
