import {
  type Binding,
  bindingOf,
  boundContext,
  contextKeysOf,
  governedBlocks,
  governorsOf,
  staleBecause,
  wiredFrom,
} from '../../shared/approvals/binding.ts'
import { canonicalJson, type Json, sha256 } from '../../shared/canonical.ts'
import type { Block } from '../../shared/dag/dag.ts'
import { type BlockPlaces, blockEpoch, blockLane, blockOutcome } from '../../shared/runs/block-lane.ts'
import { holdsWhen } from '../../shared/runs/conditions.ts'
import type { Head } from '../../shared/runs/head.ts'
import { approvalId } from '../../shared/runs/ids.ts'
import { type InputSources, resolveInputs } from '../../shared/runs/resolve-inputs.ts'
import type { BlockProjection } from '../../shared/runs/run-items.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { BlockCall, DecisionUsed } from '../blocks/block-call.ts'
import { earlierRuns } from '../blocks/earlier-runs.ts'
import { readProjections, readValues } from '../blocks/read-outputs.ts'

/**
 * What a decision binds, where it is made and where it is acted on (docs/approvals.md, ADR 0062): a question stores what
 * its yes lets happen, and every block behind it works with exactly that or does not run.
 */
export interface Bound {
  readonly binding_ref: string
  /** sha256 of the binding, which the digest of the question holds. */
  readonly binding: string
  readonly context_version: number
}

/** The binding of a question of this block that would be asked now, stored. */
export async function bindNow(call: BlockCall): Promise<Bound> {
  const { world, run, meta, dag, block } = call
  const { overrides, dag_hash } = meta
  const context = await world.runs.context(run)
  const wired = wiredFrom(governedBlocks(dag, block.id), overrides)
  const outputs = await outputHashes(call, wired)
  const facts = { dag, dag_hash, overrides, context: context?.values ?? {}, outputs }
  const text = canonicalJson(bindingOf(block.id, facts) as unknown as Json)
  const { ref } = await world.objects.put(run.tenant, Buffer.from(text))
  return { binding_ref: ref, binding: sha256(text), context_version: context?.version ?? 0 }
}

/** `block.output` -> sha256 of what has been published under these names. */
async function outputHashes(call: BlockCall, names: readonly string[]): Promise<Readonly<Record<string, string>>> {
  const projections = await completedProjections(call, [...new Set(names.map((name) => name.split('.')[0] ?? ''))])
  return Object.fromEntries(
    names.flatMap((name) => {
      const [id = '', output = ''] = name.split('.')
      const hash = projections.get(id)?.outputs?.[output]?.sha256
      return hash === undefined ? [] : [[name, hash]]
    }),
  )
}

async function completedProjections(
  call: BlockCall,
  ids: readonly string[],
): Promise<ReadonlyMap<string, BlockProjection>> {
  if (ids.length === 0) return new Map()
  const { world, run, index } = call
  const head = await world.runs.head(
    run,
    ids.map((id) => String(index.get(id))),
  )
  const done = head === undefined ? [] : ids.filter((id) => blockOutcome(call, head, id) === 'completed')
  const lanes = new Map(done.map((id) => [index.get(id) ?? -1, blockLane(call, head as Head, id) ?? 0]))
  const projections = await readProjections(world, run, lanes)
  return new Map(
    done.flatMap((id) => {
      const projection = projections.get(index.get(id) ?? -1)
      return projection === undefined ? [] : [[id, projection]]
    }),
  )
}

/** What a governed block works with, and on whose word. */
export interface Governed {
  readonly context: Readonly<Record<string, Json>>
  readonly decisions: readonly DecisionUsed[]
  readonly stale?: string
}

/** The context of a block as the decisions before it bound it; `stale`: they do not cover what it would do. */
export async function governedContext(call: BlockCall, context: Readonly<Record<string, Json>>): Promise<Governed> {
  const { dag, block, meta } = call
  const governors = governorsOf(dag, block.id)
  if (governors.length === 0) return { context, decisions: [] }
  const granted: Granted[] = []
  for (const governor of governors) {
    const decision = await decisionOf(call, governor)
    if (decision !== undefined) granted.push(decision)
    else if (await wouldAskNow(call, governor, context)) {
      const stale = `block "${governor.id}" asked nobody, since its "when" did not hold; with the context as it is now it would`
      return { context, decisions: [], stale }
    }
  }
  const bindings = granted.map(({ binding }) => binding)
  const wired = wiredFrom([block], meta.overrides)
  const because = bindings.length === 0 ? undefined : staleBecause(block, bindings, await outputHashes(call, wired))
  return {
    context: boundContext(dag, block, { overrides: meta.overrides, context }, bindings),
    decisions: granted.map(({ approval_id, digest }) => ({ approval_id, digest })),
    ...(because === undefined ? {} : { stale: because }),
  }
}

interface Granted extends DecisionUsed {
  readonly binding: Binding
}

/** The yes a block before this one has: of this run, or of the earlier one whose decision this run took over. */
async function decisionOf(call: BlockCall, governor: Block): Promise<Granted | undefined> {
  const { world, run, head } = call
  const id = approvalId(run.run_id, governor.index, blockEpoch(call, head, governor.id))
  if (head.approvals[id] !== undefined) return grantedIn(call, run, head, { id, governor })
  if (call.meta.retry_of === undefined) return undefined
  const now = await world.runs.head(run, [String(governor.index)])
  if (now === undefined || blockOutcome(call, now, governor.id) !== 'completed') return undefined
  for await (const earlier of earlierRuns({ ...call, block: governor })) {
    const before = await world.runs.head(earlier.run)
    const at = earlier.index.get(governor.id)
    if (before === undefined || at === undefined) continue
    const then = approvalId(earlier.run.run_id, at, blockEpoch(earlier satisfies BlockPlaces, before, governor.id))
    const found = await grantedIn(call, earlier.run, before, { id: then, governor })
    if (found !== undefined) return found
  }
  return undefined
}

async function grantedIn(
  { world }: BlockCall,
  run: RunKey,
  { approvals }: Head,
  { id, governor }: { readonly id: string; readonly governor: Block },
): Promise<Granted | undefined> {
  const approval = approvals[id]
  const isGranted =
    approval?.status === 'approved' || (approval?.status === 'expired' && governor.approval?.on_timeout === 'approve')
  if (approval === undefined || !isGranted) return undefined
  const item = await world.runs.approval(run, id)
  if (item?.binding_ref === undefined) return undefined
  const text = Buffer.from(await world.objects.get(run.tenant, item.binding_ref)).toString('utf8')
  return { approval_id: id, digest: approval.digest, binding: JSON.parse(text) as Binding }
}

/** Whether a block that was skipped by its own `when` would ask with this context. */
async function wouldAskNow(
  call: BlockCall,
  governor: Block,
  context: Readonly<Record<string, Json>>,
): Promise<boolean> {
  const { world, run, dag, meta } = call
  const { overrides } = meta
  if (governor.when === undefined || contextKeysOf(dag, governor, overrides).length === 0) return false
  const head = await world.runs.head(run, [String(governor.index)])
  if (head === undefined || blockOutcome(call, head, governor.id) !== 'skipped') return false
  const sources = [
    ...new Set(Object.values(governor.inputs).flatMap(({ from }) => (from === undefined ? [] : [from.block]))),
  ]
  const upstream: Record<string, InputSources['upstream'][string]> = {}
  for (const [id, projection] of await completedProjections(call, sources)) {
    upstream[id] = await readValues(world, run.tenant, projection.outputs ?? {})
  }
  if (sources.length > Object.keys(upstream).length) return false
  return holdsWhen(governor, resolveInputs(dag, governor, { overrides, upstream, context }).values)
}
