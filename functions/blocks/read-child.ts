import type { Json } from '../../shared/canonical.ts'
import type { Block } from '../../shared/dag/dag.ts'
import { childOutputs } from '../../shared/runs/child-outputs.ts'
import type { RunEvent, StoredValue } from '../../shared/runs/event.ts'
import { foldRun } from '../../shared/runs/fold.ts'
import type { RunFold } from '../../shared/runs/run-fold.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { readPinned } from '../runs/read-pinned.ts'
import type { Produced } from './produced.ts'
import { readValues } from './read-outputs.ts'

/** An ended child as its parent's block sees it: values only of a completed one, what it spent of any. */
export interface ChildEnd extends Omit<Produced, 'problems'> {
  readonly dag_name: string
  readonly fold: RunFold
  readonly latency_ms: number
}

const PAGE = 1_000

/** Folds the events of an ended child: its outcome, the outputs its parent's block takes, and what its calls cost. */
export async function readChild(world: World, run: RunKey, block: Extract<Block, { mode: 'dag' }>): Promise<ChildEnd> {
  const { meta, dag } = await readPinned(world, run)
  const fold = foldRun(await allEvents(world, run))
  const taken: Record<string, StoredValue> = {}
  for (const { port, sources } of fold.state === 'completed' ? childOutputs(block, dag) : []) {
    const value = sources.map((source) => completedOutput(fold, source)).find((stored) => stored !== undefined)
    if (value !== undefined) taken[port] = value
  }
  const values: Readonly<Record<string, Json>> = await readValues(world, run.tenant, taken)
  const { dag_name, dag_hash, inputs_hash } = meta
  const facts = {
    provider: 'dag',
    model: dag_name,
    params_hash: dag_hash,
    prompt_hash: inputs_hash,
    ...spentBy(fold),
    finish_reason: fold.state,
    note: `child run ${run.run_id}`,
  }
  const latency_ms = Math.max(0, Date.parse(fold.ended_at ?? '') - Date.parse(fold.started_at ?? ''))
  return { dag_name, fold, values, facts, latency_ms }
}

function completedOutput({ blocks }: RunFold, from: { readonly block: string; readonly output: string }) {
  const block = Object.hasOwn(blocks, from.block) ? blocks[from.block] : undefined
  const { outputs = {} } = block?.state === 'completed' ? block : {}
  return Object.hasOwn(outputs, from.output) ? outputs[from.output] : undefined
}

/** Of every attempt of every block; a child's block:output holds what its own children spent. */
function spentBy({ blocks, usd_micros }: RunFold) {
  const all = Object.values(blocks)
  const tokens_in = all.reduce((sum, block) => sum + block.tokens_in, 0)
  const tokens_out = all.reduce((sum, block) => sum + block.tokens_out, 0)
  return { tokens_in, tokens_out, ...(usd_micros === undefined ? {} : { usd_micros }) }
}

async function allEvents({ runs }: World, run: RunKey): Promise<readonly RunEvent[]> {
  const all: RunEvent[] = []
  for (;;) {
    const page = await runs.events(run, all.at(-1)?.seq ?? 0, PAGE)
    all.push(...page)
    if (page.length < PAGE) return all
  }
}
