import * as z from 'zod'
import type { Dag } from '../../shared/dag/dag.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import { readOrdinal } from '../../shared/runs/ordinal.ts'
import type { Head, RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { functionHandler } from '../handler.ts'
import { endRun } from './end-run.ts'
import { MachineInputSchema, runOf } from './machine-input.ts'
import { readPinned } from './read-pinned.ts'

const PAGE = 500

/** `_settle`: gives the run its verdict from its lanes, once; a run that has ended already keeps what it has. */
export const handler = functionHandler({
  name: 'settle',
  input: z.strictObject({ in: MachineInputSchema }),
  async run({ in: input }, world) {
    const run = runOf(input)
    const { dag } = await readPinned(world, run)
    const head = await world.runs.head(run)
    if (head === undefined || head.state !== 'running') return { end: head?.state ?? 'failed' }
    const verdict = await verdictOf(world, run, dag, head)
    const done = await endRun(world, run, { ...verdict, stop: false })
    if (done.ok) return { end: verdict.state, code: verdict.code }
    return { end: (await world.runs.head(run, []))?.state ?? 'failed' }
  },
})

async function verdictOf(world: Pick<World, 'runs'>, run: RunKey, dag: Dag, head: Head) {
  const notCompleted = dag.blocks.filter(({ index }) => outcomeOf(head, index) !== 'completed')
  if (notCompleted.length === 0) {
    const reason = `all ${dag.blocks.length} blocks completed`
    return { state: 'completed', code: 'completed', reason } as const
  }
  const unfinished = notCompleted.find(({ index }) => outcomeOf(head, index) === undefined)
  if (unfinished !== undefined) {
    const reason = `Block "${unfinished.id}" has no outcome, though its machine came to its end`
    return { state: 'failed', code: 'unfinished_block', reason, block_id: unfinished.id } as const
  }
  const first = await firstFailure(world, run)
  const reason = `Block "${first?.block_id}" failed: ${first?.data.reason}`
  return { state: 'failed', code: first?.data.code ?? 'block_failed', reason, block_id: first?.block_id ?? '' } as const
}

function outcomeOf(head: Head, index: number) {
  return readOrdinal(head.lanes[String(index)] ?? 0).outcome
}

/** The run names its first failure in event order. */
async function firstFailure(
  world: Pick<World, 'runs'>,
  run: RunKey,
): Promise<Extract<RunEvent, { type: 'block:failed' }> | undefined> {
  for (let since = 0; ; ) {
    const events = await world.runs.events(run, since, PAGE)
    const failed = events.find((event) => event.type === 'block:failed')
    const last = events.at(-1)
    if (failed !== undefined || last === undefined) return failed
    since = last.seq
  }
}
