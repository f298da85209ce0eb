import { RUN_DATA_ROUTES } from '../../shared/api/run-data-routes.ts'
import type { Dag } from '../../shared/dag/dag.ts'
import { Fault } from '../../shared/errors.ts'
import { blockOrdinal, type Head } from '../../shared/runs/head.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { BlockProjection } from '../../shared/runs/run-store-items.ts'
import type { World } from '../../shared/world.ts'
import { httpHandler } from '../http-handler.ts'
import { readPinned } from '../record/pinned-run.ts'
import { readPortValues, readProjections } from '../record/projections.ts'
import { requireBlock, requireRun } from '../require-run.ts'

/**
 * Only a completed block has published anything: what an attempt made before its gates held is nobody's to read, nor is
 * what a block gave before it was sent back.
 */
export const handler = httpHandler({
  name: 'get-outputs',
  schema: RUN_DATA_ROUTES['get-outputs'],
  run: async (call, world) => {
    const { block_id } = call.params
    const { run, head } = await requireRun(world, call)
    const pinned = await readPinned(world, run)
    const { dag } = pinned
    const { index } = requireBlock(dag, block_id)
    const block = await projectionOf(world, run, index, blockOrdinal(pinned, head, block_id))
    const stored = Object.entries((block?.state === 'completed' && block.outputs) || {})
    if (block === undefined || stored.length === 0) throw noOutputs(dag, block_id, head, block)
    const small = stored.filter(([, { bytes }]) => bytes <= MAX_INLINE_BYTES)
    const large = stored.filter(([, { bytes }]) => bytes > MAX_INLINE_BYTES)
    const outputs = { ...(await readPortValues(world, run.tenant, Object.fromEntries(small))) }
    const { attempt, state } = block
    return { json: { run_id: run.run_id, block_id, attempt, state, outputs, refs: Object.fromEntries(large) } }
  },
})

const MAX_INLINE_BYTES = 262_144

async function projectionOf(
  world: World,
  run: RunKey,
  block: number,
  lane: number | undefined,
): Promise<BlockProjection | undefined> {
  if (lane === undefined) return undefined
  return (await readProjections(world, run, new Map([[block, lane]]))).get(block)
}

function noOutputs(dag: Dag, id: string, head: Head, block: BlockProjection | undefined): Fault {
  const ports = Object.keys(dag.blocks.find((one) => one.id === id)?.outputs ?? {})
  return new Fault('NotFound', 'no_outputs', `Cannot read outputs of block "${id}": ${whyNone(ports, head, block)}`)
}

function whyNone(ports: readonly string[], { state }: Head, block: BlockProjection | undefined): string {
  if (ports.length === 0) return 'it declares none.'
  if (block?.state === 'completed') return 'it gave none of its optional ones.'
  const seen =
    state === 'running' ? (block?.state ?? 'pending') : `${block?.state ?? 'pending'} and the run is ${state}`
  const next = state === 'running' ? ' Ask again when it has completed.' : ''
  return `it is ${seen}; outputs are published when a block completes.${next}`
}
