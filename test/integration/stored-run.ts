import type { NewEvent } from '../../shared/runs/event.ts'
import type { RunState } from '../../shared/runs/head.ts'
import { newRunId } from '../../shared/runs/ids.ts'
import { ordinal, PHASE } from '../../shared/runs/lane.ts'
import type { Meta, RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'

const LATER = '2099-01-01T00:00:00.000Z'

const DAG = { name: 'stored', inputs: {}, blocks: [] }

/** A run that is written straight into the store, without a machine: for routes that only read it. */
export async function storeRun(world: World, dagName = 'stored', over: Partial<Meta> = {}): Promise<RunKey> {
  const run = { tenant: 'main', run_id: newRunId(world.ids.random(17)) }
  const hash = 'a'.repeat(64)
  const stored = await world.objects.put('main', Buffer.from(JSON.stringify(DAG)))
  await world.runs.create({
    meta: {
      ...run,
      dag_name: dagName,
      dag_hash: hash,
      dag_ref: stored.ref,
      machine: `local:${hash}`,
      starter: 'user:ana',
      created_at: now(world),
      body_hash: hash,
      inputs_hash: hash,
      overrides: {},
      options: { max_parallel: 0, fail_fast: false, deadline_sec: 3_600 },
      blocks: 1,
      ...over,
    },
    context: { goal: 'a test' },
    deadline_at: LATER,
    check_at: LATER,
    event: {
      type: 'run:started',
      data: { dag_name: dagName, dag_hash: hash, inputs_hash: hash, starter: 'user:ana', deadline_at: LATER, caps: {} },
    },
    outbox: [],
  })
  return run
}

/** Appends `block:ready` on a lane of its own. */
export async function appendReady(world: World, run: RunKey, block: number): Promise<void> {
  const event: NewEvent = { type: 'block:ready', block_id: `b${block}`, data: {} }
  const position = ordinal({ epoch: 0, attempt: 1, phase: PHASE.claimed })
  await append(world, run, String(block), position, event)
}

/** Ends the run as completed. */
export async function appendEnd(world: World, run: RunKey): Promise<void> {
  const event: NewEvent = { type: 'run:completed', data: { code: 'completed', reason: 'every block completed' } }
  await append(world, run, 'run', ordinal({ epoch: 0, attempt: 0, phase: PHASE.completed }), event, 'completed')
}

async function append(world: World, run: RunKey, lane: string, at: number, event: NewEvent, state?: RunState) {
  const done = await world.runs.append({
    run,
    lane,
    ordinal: at,
    guard: { below: at },
    at: now(world),
    events: [event],
    ...(state === undefined ? {} : { state }),
  })
  if (!done.ok) throw new Error(`append refused: ${done.because}`)
}

function now(world: World): string {
  return new Date(world.clock.now()).toISOString()
}
