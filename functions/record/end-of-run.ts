import { blockOrdinal, type Head } from '../../shared/runs/head.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { Json } from '../../shared/text/json.ts'
import type { World } from '../../shared/world.ts'
import { goneFault } from '../require-run.ts'
import { readPinned } from './pinned-run.ts'
import { readPortValues, readProjections } from './projections.ts'

type WaitWorld = Pick<World, 'runs' | 'waker' | 'clock'>

/** HEAD of a run once it has ended, or as it is after so many seconds. */
export async function headAfter(world: WaitWorld, run: RunKey, seconds: number, signal: AbortSignal): Promise<Head> {
  const { runs, waker, clock } = world
  const late = clock.now() + seconds * 1_000
  for (;;) {
    const head = await runs.head(run, [])
    if (head === undefined) throw await goneFault(world, run)
    const left = late - clock.now()
    if (head.state !== 'running') return (await runs.head(run)) ?? head
    if (left <= 0 || signal.aborted) return head
    await waker.ended(run, left, signal)
  }
}

/** Of a value that is told with others. */
const MOST_BYTES = 65_536

/** What the blocks published behind which there is no other, by block and port; larger values are left out. */
export async function lastOutputs(
  world: Pick<World, 'runs' | 'objects'>,
  run: RunKey,
  head: Head,
): Promise<Readonly<Record<string, Readonly<Record<string, Json>>>>> {
  const pinned = await readPinned(world, run)
  const { blocks } = pinned.dag
  const before = new Set(blocks.flatMap(({ upstream }) => upstream))
  const last = blocks.filter(({ id }) => !before.has(id))
  const lanes = last.flatMap(({ id, index }) => {
    const lane = blockOrdinal(pinned, head, id)
    return lane === undefined ? [] : [[index, lane] as const]
  })
  const projections = await readProjections(world, run, new Map(lanes))
  const outputs: Record<string, Readonly<Record<string, Json>>> = {}
  for (const { id, index } of last) {
    const block = projections.get(index)
    if (block?.state !== 'completed' || block.outputs === undefined) continue
    const small = Object.entries(block.outputs).filter(([, { bytes }]) => bytes <= MOST_BYTES)
    outputs[id] = await readPortValues(world, run.tenant, Object.fromEntries(small))
  }
  return outputs
}
