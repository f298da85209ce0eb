import type { Block } from '../../shared/dag/dag.ts'
import { resultValues } from '../../shared/research/result-values.ts'
import { childOutputs } from '../../shared/runs/child-outputs.ts'
import type { StoredValue } from '../../shared/runs/event.ts'
import { foldRun } from '../../shared/runs/fold.ts'
import type { RunFold } from '../../shared/runs/run-fold.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { readChain, readSources } from '../research/read-chain.ts'
import { allEvents } from '../runs/all-events.ts'
import { readPinned } from '../runs/read-pinned.ts'
import type { Produced } from './produced.ts'
import { readValues } from './read-outputs.ts'

/** An ended child as its parent's block sees it: values only of a completed one, what it spent of any. */
export interface ChildEnd extends Omit<Produced, 'problems'> {
  readonly dag_name: string
  readonly fold: RunFold
  readonly latency_ms: number
}

type ParentBlock = Extract<Block, { mode: 'dag' | 'research' }>

/** Folds the events of an ended child: its outcome, the outputs its parent's block takes, and what its calls cost. */
export async function readChild(world: World, run: RunKey, block: ParentBlock): Promise<ChildEnd> {
  const { meta, dag } = await readPinned(world, run)
  const fold = foldRun(await allEvents(world, run))
  const read = () =>
    block.mode === 'dag'
      ? blockValues(world, run, fold, childOutputs(block, dag))
      : answerValues(world, run, fold, Object.keys(block.outputs))
  const values = fold.state === 'completed' ? await read() : {}
  const { dag_name, dag_hash, inputs_hash } = meta
  const facts = {
    provider: block.mode,
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

async function answerValues(world: World, { tenant }: RunKey, { stage }: RunFold, ports: readonly string[]) {
  const chain = stage === undefined ? undefined : await readChain(world, tenant, stage.ref)
  if (chain?.result === undefined) return {}
  const texts = ports.includes('sources') ? await readSources(world, tenant, chain) : []
  const values = resultValues(chain.result, texts)
  return Object.fromEntries(Object.entries(values).filter(([port]) => ports.includes(port)))
}

async function blockValues(world: World, run: RunKey, fold: RunFold, wanted: ReturnType<typeof childOutputs>) {
  const taken: Record<string, StoredValue> = {}
  for (const { port, sources } of wanted) {
    const value = sources.map((source) => completedOutput(fold, source)).find((stored) => stored !== undefined)
    if (value !== undefined) taken[port] = value
  }
  return readValues(world, run.tenant, taken)
}

function completedOutput({ blocks }: RunFold, from: { readonly block: string; readonly output: string }) {
  const block = Object.hasOwn(blocks, from.block) ? blocks[from.block] : undefined
  const { outputs = {} } = block?.state === 'completed' ? block : {}
  return Object.hasOwn(outputs, from.output) ? outputs[from.output] : undefined
}

/** Of every attempt of every block, and of every stage; a child's block:output holds what its own children spent. */
function spentBy({ blocks, tokens, usd_micros, unpriced_tokens }: RunFold) {
  const tokens_out = Object.values(blocks).reduce((sum, block) => sum + block.tokens_out, 0)
  const tokens_in = tokens - tokens_out
  const price =
    usd_micros === undefined ? {} : { usd_micros, ...(unpriced_tokens === undefined ? {} : { unpriced_tokens }) }
  return { tokens_in, tokens_out, ...price }
}
