import { suggest } from '../../shared/dag/suggest.ts'
import { Fault } from '../../shared/errors.ts'
import { type Principal, principalName } from '../../shared/principal.ts'
import type { Append } from '../../shared/runs/append.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { notifyEntry } from '../approvals/notify-entry.ts'
import { type BlockStop, blockStopAppend } from './block-stop-append.ts'
import { type Pinned, readPinned } from './read-pinned.ts'

type StopWorld = Pick<World, 'runs' | 'objects' | 'outbox' | 'clock' | 'settings'>

/** Attempts to stop a block whose lane moves: each is a claim, a reservation or a record by whoever runs it. */
const MAX_TRIES = 50

/**
 * Stops one block of a live run for good: its terminal state first, then its dispatch, its child run, its question. What
 * depends on it is skipped, the rest goes on, and the run ends failed. Fault NotFound unknown_run or unknown_block,
 * Conflict run_ended or block_ended.
 */
export async function stopBlock(
  world: StopWorld,
  run: RunKey,
  principal: Principal,
  { block_id, reason }: { readonly block_id: string; readonly reason?: string | undefined },
): Promise<void> {
  if ((await world.runs.head(run, [])) === undefined) throw unknownRun(run)
  const pinned = await readPinned(world, run)
  const block = pinned.dag.blocks[pinned.index.get(block_id) ?? -1]
  if (block === undefined) throw unknownBlock(run, pinned, block_id)
  const words = `stopped by ${principalName(principal)}${reason === undefined ? '' : `: ${reason}`}`
  await append(world, { run, pinned, block, reason: words })
  await world.runs.putStop(run, block.index)
  await world.outbox.nudge(run)
}

/** Exactly the lane that was read: what its attempt had reserved by then is settled with it. */
async function append(world: StopWorld, stop: BlockStop): Promise<void> {
  const { run, block } = stop
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const head = await world.runs.head(run)
    if (head === undefined || head.state !== 'running') throw ended(run, block.id, head?.state ?? 'gone')
    const done = await world.runs.append(withWord(world, await blockStopAppend(world, stop, head)))
    if (done.ok) return
  }
  const message = `Cannot stop block "${block.id}" of run "${run.run_id}": its lane moved ${MAX_TRIES} times meanwhile. Try again.`
  throw new Fault('Unavailable', 'store_busy', message)
}

/** Its question is asked no more, and who was asked is told. */
function withWord(world: StopWorld, stopping: Append): Append {
  const { run, approval, outbox = [], at } = stopping
  if (approval === undefined) return stopping
  return { ...stopping, outbox: [...outbox, ...notifyEntry(world, run, at, 'cancelled', approval.id)] }
}

function unknownRun({ run_id }: RunKey): Fault {
  const message = `Cannot stop run "${run_id}": there is no such run. \`sluice run list\` shows the runs there are.`
  return new Fault('NotFound', 'unknown_run', message)
}

function unknownBlock({ run_id }: RunKey, { dag, index }: Pinned, id: string): Fault {
  const near = suggest(id, index.keys())
  const hint =
    near === undefined ? `Blocks are ${[...index.keys()].slice(0, 12).join(', ')}.` : `Did you mean "${near}"?`
  const message = `Cannot stop block "${id.slice(0, 64)}" of run "${run_id}": DAG "${dag.name}" has no such block. ${hint}`
  return new Fault('NotFound', 'unknown_block', message)
}

function ended({ run_id }: RunKey, id: string, state: string): Fault {
  return new Fault('Conflict', 'run_ended', `Cannot stop block "${id}": run "${run_id}" is already ${state}.`)
}
