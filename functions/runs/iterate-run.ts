import { canonicalJson, sha256 } from '../../shared/canonical.ts'
import { runIdOfKey } from '../../shared/runs/ids.ts'
import { iterationsBefore } from '../../shared/runs/lineage.ts'
import type { Meta } from '../../shared/runs/run-store.ts'
import type { Iteration } from '../approvals/read-decision.ts'
import type { BlockCall } from '../blocks/block-call.ts'
import { carryGoal } from '../goals/freeze-goal.ts'
import { createRun } from './create-run.ts'
import { endRun } from './end-run.ts'
import { givenContext } from './given-context.ts'
import { iteratedContext } from './iterated-context.ts'
import { MADE_KEYS } from './retried-values.ts'

/**
 * Ends the run as iterated and names the run of the same pinned document that takes its place: that one is made first,
 * asleep (queued, and in no queue), and woken when this one gives back its own place (settle-successor.ts). Whoever
 * repeats this makes the same run. Answers why not, in words; undefined = this run has ended.
 */
export async function iterateRun(call: BlockCall, iteration: Iteration): Promise<string | undefined> {
  const { world, run, meta, block } = call
  if (meta.parent !== undefined)
    return `no run takes the place of a child: run ${meta.parent.run_id} waits for this one`
  const most = block.approval?.max_iterations ?? 5
  const root = meta.root ?? run.run_id
  const before = iterationsBefore(await world.runs.lineage(run.tenant, root), run.run_id)
  if (before >= most) {
    return `${before === 1 ? 'one run was' : `${before} runs were`} made in place of one another before, and max_iterations is ${most}`
  }
  const next = await makeNext(call, iteration, root)
  const { code, reason } = iteration.refusal
  const words = `Block "${block.id}" was ${reason}; run ${next.run_id} takes the place of this one`
  const end = { state: 'iterated', code, reason: words, block_id: block.id, next_run: next.run_id, stop: true } as const
  await endRun(world, run, end)
  return undefined
}

/** The same run for whoever asks: its id is that of this run and the approval. */
async function makeNext(call: BlockCall, { approval_id, mode, feedback_ref }: Iteration, root: string): Promise<Meta> {
  const { world, run, meta, dag } = call
  const { dag_hash, machine, overrides, options, starter, starter_person, continues, edited, children } = meta
  const run_id = runIdOfKey(run.tenant, 'iterate', `${run.run_id}|${approval_id}`)
  const iterates = { run_id: run.run_id, approval_id, mode, feedback_ref }
  const goal = await carryGoal(world, meta)
  const context = await iteratedContext(call, iterates)
  const carried = { dag, context, made: MADE_KEYS, before: { run, meta } }
  const given = await givenContext(world, carried)
  const made = await createRun(world, {
    run: { tenant: run.tenant, run_id },
    dag,
    dag_hash,
    machine,
    context,
    overrides,
    options,
    starter,
    starter_person,
    body_hash: sha256(canonicalJson(iterates)),
    iterates,
    root,
    ...(edited === undefined ? {} : { edited }),
    ...(children === undefined ? {} : { children }),
    ...given,
    ...(continues === undefined ? {} : { continues }),
    ...(goal === undefined ? {} : { goal }),
    queued: true,
  })
  return made.meta
}
