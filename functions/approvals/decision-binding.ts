import {
  type Binding,
  bindingOf,
  boundContext,
  childOf,
  contextKeysOf,
  feedingBlocks,
  governedBlocks,
  governorsOf,
  governs,
  staleBecause,
  wiredFrom,
} from '../../shared/approvals/binding.ts'
import { canonicalJson, type Json, sha256 } from '../../shared/canonical.ts'
import type { Block } from '../../shared/dag/dag.ts'
import { approvalEpoch } from '../../shared/runs/approval-epoch.ts'
import { askNumber } from '../../shared/runs/ask-id.ts'
import { blockEpoch, blockLane, blockOutcome } from '../../shared/runs/block-lane.ts'
import { holdsWhen } from '../../shared/runs/conditions.ts'
import type { Head, HeadApproval } from '../../shared/runs/head.ts'
import { approvalId } from '../../shared/runs/ids.ts'
import { readOrdinal } from '../../shared/runs/ordinal.ts'
import { type InputSources, resolveInputs } from '../../shared/runs/resolve-inputs.ts'
import type { BlockProjection } from '../../shared/runs/run-items.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { BlockCall, DecisionUsed } from '../blocks/block-call.ts'
import { childRun } from '../blocks/child-run.ts'
import { readProjections, readValues } from '../blocks/read-outputs.ts'
import { allEvents } from '../runs/all-events.ts'
import { readPinned } from '../runs/read-pinned.ts'

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

/** The binding of a question of this block, or of the child run it opens, that would be asked now, stored. */
export async function bindNow(call: BlockCall): Promise<Bound> {
  const { world, run, meta, dag, block } = call
  const context = await world.runs.context(run)
  const wired = wiredFrom(governedBlocks(dag, block.id), meta.overrides)
  const outputs = await outputHashes(call, wired)
  const above = await bindingAbove(call)
  const text = canonicalJson(
    bindingOf(block.id, { dag, meta, context: context?.values ?? {}, outputs, above }) as unknown as Json,
  )
  const { ref } = await world.objects.put(run.tenant, Buffer.from(text))
  return { binding_ref: ref, binding: sha256(text), context_version: context?.version ?? 0 }
}

async function bindingAbove({ world, run, meta }: BlockCall): Promise<string | undefined> {
  const ref = meta.parent?.binding_ref
  return ref === undefined ? undefined : sha256(Buffer.from(await world.objects.get(run.tenant, ref)).toString('utf8'))
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

/**
 * The context of a block as the decisions before it bound it, questions of every kind and of child runs; also of one that
 * feeds what an open question may let happen. `stale`: they do not cover what it would do.
 */
export async function governedContext(call: BlockCall, context: Readonly<Record<string, Json>>): Promise<Governed> {
  const { dag, block, meta } = call
  const here = [...(await askedHere(call)), ...(await openedChildren(call))]
  const inherited: Over[] = []
  for (const governor of governorsOf(dag, block.id)) {
    if (here.some((over) => over.governor === governor.id)) continue
    const decision = await inheritedDecision(call, governor)
    if (decision !== undefined) inherited.push(decision)
    else if (await wouldAskNow(call, governor, context)) {
      const stale = `block "${governor.id}" asked nobody, since its "when" did not hold; with the context as it is now it would`
      return { context, decisions: [], stale }
    }
  }
  const all = [...here, ...inherited]
  const bindings = all.flatMap(({ binding }) => (binding === undefined ? [] : [binding]))
  const wired = wiredFrom([block], meta.overrides)
  const because = bindings.length === 0 ? undefined : staleBecause(block, bindings, await outputHashes(call, wired))
  return {
    context: boundContext(dag, block, { overrides: meta.overrides, context }, bindings),
    decisions: all.flatMap(({ decision }) => (decision === undefined ? [] : [decision])),
    ...(because === undefined ? {} : { stale: because }),
  }
}

/** A question, or a child run that may ask, before a block. */
interface Over {
  /** Id of the block. */
  readonly governor: string
  /** Of a question of an earlier version there is none. */
  readonly binding?: Binding
  /** It was answered with yes. */
  readonly decision?: DecisionUsed
}

/** Questions of this run, each in the epoch its block is in. */
async function askedHere(call: BlockCall): Promise<readonly Over[]> {
  const { run, head, dag } = call
  const found: Over[] = []
  for (const [id, approval] of Object.entries(head.approvals)) {
    const governor = dag.blocks[approval.block]
    if (governor === undefined || approvalEpoch(id) !== blockEpoch(call, head, governor.id)) continue
    const over = await overAsked(call, run, { id, approval, governor })
    if (over !== undefined) found.push(over)
  }
  return found
}

/** A question before this block binds it once it is answered with yes; one it feeds, as soon as it is asked. */
async function overAsked(call: BlockCall, run: RunKey, question: Question): Promise<Over | undefined> {
  const { dag, block } = call
  const { id, approval, governor } = question
  const isOwn = governor.id === block.id && askNumber(id) !== undefined
  const granted = isGranted(id, approval, governor)
  if (isOwn || governs(dag, governor.id, block.id)) {
    if (granted) return overOf(call, run, question)
    return askNumber(id) === undefined ? { governor: governor.id } : undefined
  }
  if (!feeds(call, governor) || approval.status === 'rejected') return undefined
  const { decision, ...over } = await overOf(call, run, question)
  return granted && decision !== undefined ? { ...over, decision } : over
}

function feeds({ dag, block }: BlockCall, governor: Block): boolean {
  return feedingBlocks(dag, governor.id).some(({ id }) => id === block.id)
}

function isGranted(id: string, { status }: HeadApproval, { approval }: Block): boolean {
  if (status === 'approved') return true
  return status === 'expired' && askNumber(id) === undefined && approval?.on_timeout === 'approve'
}

interface Question {
  readonly id: string
  readonly approval: HeadApproval
  readonly governor: Block
}

async function overOf({ world }: BlockCall, run: RunKey, { id, approval, governor }: Question): Promise<Over> {
  const item = await world.runs.approval(run, id)
  if (item?.binding_ref === undefined) return { governor: governor.id }
  const binding = await readBinding(world, run.tenant, item.binding_ref)
  return { governor: governor.id, binding, decision: { approval_id: id, digest: approval.digest } }
}

async function readBinding({ objects }: BlockCall['world'], tenant: string, ref: string): Promise<Binding> {
  return JSON.parse(Buffer.from(await objects.get(tenant, ref)).toString('utf8')) as Binding
}

/** Blocks before this one, or beside it, whose child run may have asked: what that was opened with. */
async function openedChildren(call: BlockCall): Promise<readonly Over[]> {
  const { world, run, dag, block, meta } = call
  const asking = dag.blocks.filter((one) => {
    if (childOf(one, meta.children)?.asks !== true) return false
    return governs(dag, one.id, block.id) || feeds(call, one)
  })
  if (asking.length === 0) return []
  const lanes = asking.map(({ index }) => String(index))
  const head = await world.runs.head(run, lanes)
  const found: Over[] = []
  for (const governor of head === undefined ? [] : asking) {
    const lane = blockLane(call, head as Head, governor.id)
    if (lane === undefined) continue
    const { epoch, attempt } = readOrdinal(lane)
    const child = await world.runs.meta(childRun({ ...call, block: governor, epoch }, attempt))
    const ref = child?.parent?.binding_ref
    if (ref !== undefined) found.push({ governor: governor.id, binding: await readBinding(world, run.tenant, ref) })
  }
  return found
}

/** The yes of the run from which a retry took over this block's result. */
async function inheritedDecision(call: BlockCall, governor: Block): Promise<Over | undefined> {
  const { world, run, meta } = call
  if (meta.retry_of === undefined) return undefined
  const taken = (await allEvents(world, run)).findLast(
    ({ type, block_id, item }) => type === 'block:completed' && block_id === governor.id && item === undefined,
  )
  const from = taken?.type === 'block:completed' ? taken.data.cached_from : undefined
  if (from === undefined) return undefined
  const earlier = { tenant: run.tenant, run_id: from }
  const places = await readPinned(world, earlier)
  const head = await world.runs.head(earlier, [])
  const at = places.index.get(governor.id)
  if (head === undefined || at === undefined) return undefined
  const id = approvalId(from, at, blockEpoch(places, head, governor.id))
  const approval = head.approvals[id]
  if (approval === undefined || !isGranted(id, approval, governor)) return undefined
  return overOf(call, earlier, { id, approval, governor })
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
