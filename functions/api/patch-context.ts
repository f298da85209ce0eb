import { RUN_DATA_ROUTES } from '../../shared/api/run-data-routes.ts'
import { bypassedQuestions } from '../../shared/approvals/bypassed-questions.ts'
import { lockedContextKeys } from '../../shared/approvals/decision-binding.ts'
import { asksPeople } from '../../shared/approvals/governed-blocks.ts'
import { principalName } from '../../shared/auth/principal.ts'
import type { Block } from '../../shared/dag/dag.ts'
import { TaskSchema } from '../../shared/dag/task-status.ts'
import { Fault } from '../../shared/errors.ts'
import { blockOrdinal, blockOutcome, type Head } from '../../shared/runs/head.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { ContextItem } from '../../shared/runs/run-store-items.ts'
import { canonicalJson } from '../../shared/text/json.ts'
import type { World } from '../../shared/world.ts'
import { changeHandler } from '../http-handler.ts'
import { readPinned } from '../record/pinned-run.ts'
import { requireRun } from '../require-run.ts'
import { requireAuthor } from '../runs/authoring.ts'
import { checkContextSize, recordContext } from '../runs/context.ts'
import { skippedQuestionFault } from '../runs/start-values.ts'

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
    requireAuthor(world.settings, call.principal, [
      `context (${Object.keys(set).slice(0, 5).join(', ').slice(0, 200)})`,
    ])
    if (head.state !== 'running') throw ended(run, head.state)
    const before = (await world.runs.context(run)) ?? { version: 0, values: {} }
    if (before.version !== if_version) throw stale(if_version, before.version)
    refuseTask(run, before, set)
    await refuseDecided(world, run, before, set)
    if ((head.lanes.ctx ?? 0) < before.version) await record(world, run, { version: before.version, keys: [] })
    const after = { version: if_version + 1, values: { ...before.values, ...set } }
    checkContextSize(after)
    if (!(await world.runs.putContext(run, after, if_version))) throw await staleNow(world, run, if_version)
    const by = principalName(call.principal)
    await record(world, run, { version: after.version, keys: Object.keys(set), by })
    return { json: after }
  },
})

interface Patched {
  readonly version: number
  readonly keys: readonly string[]
  readonly by?: string
}

async function record(world: World, run: RunKey, { version, keys, by }: Patched): Promise<void> {
  const done = await recordContext(world, run, version, keys, by)
  if (!done.ok && done.because === 'terminal') throw ended(run, 'over')
}

/**
 * What people are asked about, or decided on, stays as they saw it: a key that a yes binds may not change until all it
 * lets happen has ended; nor one that could take away a question that is still to come. Who changes it all the same, between this look and the question, changes nothing those blocks see.
 */
async function refuseDecided(
  world: World,
  run: RunKey,
  before: ContextItem,
  set: ContextItem['values'],
): Promise<void> {
  const { dag, meta, ...places } = await readPinned(world, run)
  const head = await world.runs.head(run)
  if (head === undefined) return
  const asked = new Set(Object.values(head.approvals).map(({ block }) => block))
  // A child run asks at any time of its life; a question that was passed by is over when its block is.
  const hasBegun = (block: Block) =>
    hasEnded(block) || (block.mode === 'dag' && blockOrdinal(places, head, block.id) !== undefined)
  const hasEnded = ({ id }: Block) => blockOutcome(places, head, id) !== undefined
  const locked = lockedContextKeys(dag, meta.overrides, {
    hasEnded,
    isAsked: (block) => asked.has(block.index) || (asksPeople(block, meta.children) && hasBegun(block)),
  })
  const same = (key: string) => canonicalJson(before.values[key] ?? null) === canonicalJson(set[key] ?? null)
  const changed = Object.keys(set).filter((name) => !same(name))
  const key = changed.find((name) => locked.has(name))
  if (key === undefined) {
    const unasked = bypassedQuestions(
      dag,
      meta,
      changed.map((name) => ({ key: name })),
      (block) => !hasEnded(block),
    )
    if (unasked.length > 0) throw skippedQuestionFault(`Cannot change the context of run "${run.run_id}"`, unasked)
    return
  }
  const message = `Cannot change "${key}" in the context of run "${run.run_id}": people were asked about block "${locked.get(key)}" with the value it has, and what they decide lets blocks run that read it. Reject the question or stop the run, and start one with the other value.`
  throw new Fault('Conflict', 'context_is_decided', message, { facts: { key, block_id: locked.get(key) } })
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
