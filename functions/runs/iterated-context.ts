import type { Json } from '../../shared/canonical.ts'
import { blockLane, blockOutcome } from '../../shared/runs/block-lane.ts'
import type { StoredValue } from '../../shared/runs/event.ts'
import type { Meta } from '../../shared/runs/run-store.ts'
import type { BlockCall } from '../blocks/block-call.ts'
import { readProjections, readValues } from '../blocks/read-outputs.ts'
import { retriedValues } from './retried-values.ts'

type Values = Readonly<Record<string, Json>>

/** Of all results together; what has no room is its ref. */
const PREVIOUS_BYTES = 65_536
/** Refs beyond these are left out: a context has 200 KiB. */
const MOST_REFS = 500

/**
 * What the next run of an iteration begins with: the context as this one left it, the person's words as `feedback`, and
 * to refine on, `previous`: the outputs of completed blocks, by block and port.
 */
export async function iteratedContext(
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
  const lanes = new Map(completed.map(({ id }) => [index.get(id) ?? -1, blockLane(call, head, id) ?? 0]))
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
      Object.assign(values, await readValues(world, run.tenant, { [port]: stored }))
    } else if (room.refs > 0) {
      room.refs -= 1
      values[port] = stored.ref
    }
  }
  return values
}
