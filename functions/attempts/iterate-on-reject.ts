import type { StoredValue } from '../../shared/runs/event.ts'
import { blockOrdinal, blockOutcome } from '../../shared/runs/head.ts'
import { runIdOfKey } from '../../shared/runs/ids.ts'
import { iterationsUpTo, type Meta } from '../../shared/runs/run-store.ts'
import { sha256 } from '../../shared/text/hash.ts'
import { canonicalJson, type Json } from '../../shared/text/json.ts'
import { carryGoal } from '../record/frozen-goal.ts'
import { readPortValues, readProjections } from '../record/projections.ts'
import { givenContext, MADE_KEYS, retriedValues } from '../runs/context.ts'
import { createRun } from '../runs/create-run.ts'
import { endRun } from '../runs/end-run.ts'
import type { BlockCall } from './block-call.ts'
import type { Iteration } from './decision.ts'

/**
 * Ends the run as iterated and names the run of the same pinned document that takes its place: that one is made first,
 * asleep (queued, and in no queue), and woken when this one gives back its own slot (functions/runs/lineage.ts). Whoever
 * repeats this makes the same run. Answers why not, in words; undefined = this run has ended.
 */
export async function iterateOnReject(call: BlockCall, iteration: Iteration): Promise<string | undefined> {
  const { world, run, meta, block } = call
  if (meta.parent !== undefined)
    return `no run takes the place of a child: run ${meta.parent.run_id} waits for this one`
  const most = block.approval?.max_iterations ?? 5
  const root = meta.root ?? run.run_id
  const before = iterationsUpTo(await world.runs.lineage(run.tenant, root), run.run_id)
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

type Values = Readonly<Record<string, Json>>

/** Of all results together; what has no room is its ref. */
const PREVIOUS_BYTES = 65_536
/** Refs beyond these are left out: a context has 200 KiB. */
const MOST_REFS = 500

/**
 * What the next run of an iteration begins with: the context as this one left it, the person's words as `feedback`, and
 * to refine on, `previous`: the outputs of completed blocks, by block and port.
 */
async function iteratedContext(
  call: BlockCall,
  { feedback_ref, mode }: NonNullable<Meta['iterates']>,
): Promise<Values> {
  const { world, run, dag } = call
  const { context, earlier } = await retriedValues(world, run, { run, old: call, dag })
  const { feedback: _, previous: __, task, ...others } = context
  // A document that moves a task moves it again, from where it was found.
  const found = dag.task_gates === undefined ? task : earlier.task
  const feedback = Buffer.from(await world.objects.get(run.tenant, feedback_ref)).toString('utf8')
  return {
    ...others,
    ...(found === undefined ? {} : { task: found }),
    feedback,
    ...(mode === 'refine' ? { previous: await previousOutputs(call) } : {}),
  }
}

async function previousOutputs(call: BlockCall): Promise<Values> {
  const { world, run, dag, index } = call
  const head = (await world.runs.head(run)) ?? call.head
  const completed = dag.blocks.filter(({ id }) => blockOutcome(call, head, id) === 'completed')
  const lanes = new Map(completed.map(({ id }) => [index.get(id) ?? -1, blockOrdinal(call, head, id) ?? 0]))
  const projections = await readProjections(world, run, lanes)
  const room = { bytes: PREVIOUS_BYTES, refs: MOST_REFS }
  const previous: Record<string, Json> = {}
  for (const { id } of completed) {
    const outputs = projections.get(index.get(id) ?? -1)?.outputs ?? {}
    previous[id] = await asFits(call, outputs, room)
  }
  return previous
}

async function asFits(
  { world, run }: BlockCall,
  outputs: Readonly<Record<string, StoredValue>>,
  room: { bytes: number; refs: number },
): Promise<Values> {
  const values: Record<string, Json> = {}
  for (const [port, stored] of Object.entries(outputs)) {
    if (stored.bytes <= room.bytes) {
      room.bytes -= stored.bytes
      Object.assign(values, await readPortValues(world, run.tenant, { [port]: stored }))
    } else if (room.refs > 0) {
      room.refs -= 1
      values[port] = stored.ref
    }
  }
  return values
}
