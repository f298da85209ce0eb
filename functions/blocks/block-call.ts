import type { Json } from '../../shared/canonical.ts'
import type { Block } from '../../shared/dag/dag.ts'
import { Fault } from '../../shared/errors.ts'
import { readOrdinal } from '../../shared/runs/ordinal.ts'
import { resolveInputs } from '../../shared/runs/resolve-inputs.ts'
import type { Head, RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { type Pinned, readPinned } from '../runs/read-pinned.ts'
import { readProjections, readValues } from './read-outputs.ts'

/** One invocation's view of its block: what it is pinned to and what HEAD says right now. */
export interface BlockCall extends Pinned {
  readonly world: World
  readonly run: RunKey
  readonly block: Block
  readonly head: Head
  /** This block's lane; undefined before its first event. */
  readonly lane: number | undefined
}

/** What the attempt works with, fixed at its claim. */
export interface BlockInputs {
  readonly values: Readonly<Record<string, Json>>
  readonly problems: readonly string[]
  readonly context_version: number
}

/** Reads the pinned document and the part of HEAD this block needs: its own lane and its upstreams'. */
export async function openBlockCall(world: World, run: RunKey, blockId: string): Promise<BlockCall> {
  const pinned = await readPinned(world, run)
  const block = pinned.dag.blocks[pinned.index.get(blockId) ?? -1]
  if (block === undefined) {
    throw new Fault(
      'Bug',
      'unknown_block',
      `Machine and document differ: no block "${blockId}" in DAG "${pinned.dag.name}".`,
    )
  }
  const lanes = [String(block.index), ...upstreamIndexes(pinned, block).map(String)]
  const head = await world.runs.head(run, lanes)
  if (head === undefined) throw new Fault('Bug', 'head_missing', `Run "${run.run_id}" has META but no HEAD.`)
  return { ...pinned, world, run, block, head, lane: head.lanes[String(block.index)] }
}

/** Ids of upstream blocks that did not complete; empty = runnable. */
export function unmetUpstream({ index, block, head }: BlockCall): readonly string[] {
  return block.upstream.filter((id) => readOrdinal(head.lanes[String(index.get(id))] ?? 0).outcome !== 'completed')
}

/** Resolves the block's inputs from overrides, upstream outputs and the run's context. */
export async function resolveBlockInputs(call: BlockCall): Promise<BlockInputs> {
  const { world, run, meta, dag, block } = call
  const upstream = await readUpstream(call)
  const context = await world.runs.context(run)
  const sourcesOf = { overrides: meta.overrides, upstream, context: context?.values ?? {} }
  return { ...resolveInputs(dag, block, sourcesOf), context_version: context?.version ?? 0 }
}

async function readUpstream({ world, run, index, block, head }: BlockCall) {
  const wired = new Set(Object.values(block.inputs).flatMap(({ from }) => (from === undefined ? [] : [from.block])))
  const sources = [...wired].map((id) => ({ id, at: index.get(id) ?? -1 }))
  const lanes = new Map(sources.map(({ at }) => [at, head.lanes[String(at)] ?? 0]))
  const projections = await readProjections(world, run, lanes)
  const upstream: Record<string, Readonly<Record<string, Json>>> = {}
  for (const { id, at } of sources) {
    upstream[id] = await readValues(world, run.tenant, projections.get(at)?.outputs ?? {})
  }
  return upstream
}

function upstreamIndexes({ index }: Pinned, block: Block): readonly number[] {
  return block.upstream.map((id) => index.get(id) ?? -1)
}
