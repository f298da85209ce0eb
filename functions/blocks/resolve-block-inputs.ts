import { canonicalJson, type Json } from '../../shared/canonical.ts'
import { blockLane, blockOutcome } from '../../shared/runs/block-lane.ts'
import { resolveInputs } from '../../shared/runs/resolve-inputs.ts'
import { approvedInputs } from '../approvals/approved-inputs.ts'
import { governedContext } from '../approvals/decision-binding.ts'
import type { BlockCall, BlockInputs, DecisionUsed } from './block-call.ts'
import { readProjections, readValues } from './read-outputs.ts'

/**
 * Resolves the block's inputs from overrides, upstream outputs and the run's context; once it was asked about they stay, and
 * behind a decision the context is the one that decision bound.
 */
export async function resolveBlockInputs(call: BlockCall): Promise<BlockInputs> {
  const { inputs: approved, edits } = await approvedInputs(call)
  if (approved !== undefined) return approved
  const { world, run, meta, dag, block } = call
  const upstream = await readUpstream(call)
  const stored = await world.runs.context(run)
  const { context, decisions, stale } = await governedContext(call, stored?.values ?? {})
  const sources = { overrides: meta.overrides, upstream, context, edits }
  return {
    ...resolveInputs(dag, block, sources),
    context_version: stored?.version ?? 0,
    ...(decisions.length === 0 ? {} : { decisions }),
    ...(decisions.length > MOST_TOLD ? { decisions_ref: await storeDecisions(call, decisions) } : {}),
    ...(stale === undefined ? {} : { stale }),
  }
}

/** An event has 1 KiB in all. */
const MOST_TOLD = 3

async function storeDecisions({ world, run }: BlockCall, decisions: readonly DecisionUsed[]): Promise<string> {
  const { ref } = await world.objects.put(run.tenant, Buffer.from(canonicalJson(decisions as unknown as Json)))
  return ref
}

async function readUpstream(call: BlockCall) {
  const { world, run, index, block, head } = call
  const wired = new Set(Object.values(block.inputs).flatMap(({ from }) => (from === undefined ? [] : [from.block])))
  const completed = [...wired].filter((id) => blockOutcome(call, head, id) === 'completed')
  const sources = completed.map((id) => ({ id, at: index.get(id) ?? -1 }))
  const lanes = new Map(sources.map(({ id, at }) => [at, blockLane(call, head, id) ?? 0]))
  const projections = await readProjections(world, run, lanes)
  const upstream: Record<string, Readonly<Record<string, Json>>> = {}
  for (const { id, at } of sources) {
    upstream[id] = await readValues(world, run.tenant, projections.get(at)?.outputs ?? {})
  }
  return upstream
}
