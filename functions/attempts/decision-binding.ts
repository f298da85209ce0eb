import {
  type Binding,
  bindingOf,
  boundContext,
  contextKeysOf,
  outputsWiredInto,
  staleReason,
} from '../../shared/approvals/decision-binding.ts'
import { feedingBlocks, governedBlocks, governingBlocks, governs } from '../../shared/approvals/governed-blocks.ts'
import type { ApprovalPolicy, Block } from '../../shared/dag/dag.ts'
import { renderTemplate } from '../../shared/dag/template.ts'
import { approvalDigest } from '../../shared/runs/approval.ts'
import { type InputSources, resolveInputs } from '../../shared/runs/block-inputs.ts'
import type { StoredValue } from '../../shared/runs/event.ts'
import { blockEpoch, blockOrdinal, blockOutcome, type Head, type HeadApproval } from '../../shared/runs/head.ts'
import { approvalEpoch, approvalId, questionNumber } from '../../shared/runs/ids.ts'
import { readOrdinal } from '../../shared/runs/lane.ts'
import { childDocumentOf, type RunKey } from '../../shared/runs/run-store.ts'
import type { ApprovalItem, BlockProjection } from '../../shared/runs/run-store-items.ts'
import { isWhenTrue } from '../../shared/runs/skip-rules.ts'
import { sha256 } from '../../shared/text/hash.ts'
import { canonicalJson, type Json } from '../../shared/text/json.ts'
import { readPinned } from '../record/pinned-run.ts'
import { readPortValues, readProjections } from '../record/projections.ts'
import { allEvents } from '../record/run-log.ts'
import { type BlockCall, childRunKey, type DecisionUsed } from './block-call.ts'

/**
 * What a decision binds, where it is made and where it is acted on (docs/approvals.md, ADR 0062): a question stores what
 * its yes lets happen, and every block behind it works with exactly that or does not run.
 */
interface Bound {
  readonly binding_ref: string
  /** sha256 of the binding, which the digest of the question holds. */
  readonly binding: string
  readonly context_version: number
}

/** The binding of a question of this block, or of the child run it opens, that would be asked now, stored. */
export async function storeBinding(call: BlockCall): Promise<Bound> {
  const { world, run, meta, dag, block } = call
  const context = await world.runs.context(run)
  const wired = outputsWiredInto(governedBlocks(dag, block.id), meta.overrides)
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
  const lanes = new Map(done.map((id) => [index.get(id) ?? -1, blockOrdinal(call, head as Head, id) ?? 0]))
  const projections = await readProjections(world, run, lanes)
  return new Map(
    done.flatMap((id) => {
      const projection = projections.get(index.get(id) ?? -1)
      return projection === undefined ? [] : [[id, projection]]
    }),
  )
}

/** What a governed block works with, and on whose word. */
interface Governed {
  readonly context: Readonly<Record<string, Json>>
  readonly decisions: readonly DecisionUsed[]
  readonly stale?: string
}

/**
 * The context of a block as the decisions before it bound it, questions of every kind and of child runs; also of one that
 * feeds what an open question may let happen. `stale`: they do not cover what it would do.
 */
export async function contextBoundByDecisions(
  call: BlockCall,
  context: Readonly<Record<string, Json>>,
): Promise<Governed> {
  const { dag, block, meta } = call
  const opened = await openedChildren(call)
  const here = [...(await askedHere(call)), ...opened]
  const inherited: Over[] = []
  for (const governor of governingBlocks(dag, block.id)) {
    // A question in the middle of its attempt (its budget, a gate) is not the one before it.
    if (wasAskedBefore(call, governor) || opened.some((over) => over.governor === governor.id)) continue
    const decision = await inheritedDecision(call, governor)
    if (decision !== undefined) inherited.push(decision)
    else if (await wouldAskNow(call, governor, context)) {
      const stale = `block "${governor.id}" asked nobody, since its "when" did not hold; with the context as it is now it would`
      return { context, decisions: [], stale }
    }
  }
  const all = [...here, ...inherited]
  const bindings = all.flatMap(({ binding }) => (binding === undefined ? [] : [binding]))
  const wired = outputsWiredInto([block], meta.overrides)
  const because = bindings.length === 0 ? undefined : staleReason(block, bindings, await outputHashes(call, wired))
  return {
    context: boundContext(dag, block, { overrides: meta.overrides, context }, bindings),
    decisions: all.flatMap(({ decision }) => (decision === undefined ? [] : [decision])),
    ...(because === undefined ? {} : { stale: because }),
  }
}

/** Whether this run asked somebody before it let the block begin. */
function wasAskedBefore({ run, head, ...places }: BlockCall, { id, index }: Block): boolean {
  return head.approvals[approvalId(run.run_id, index, blockEpoch(places, head, id))] !== undefined
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
  const isOwn = governor.id === block.id && questionNumber(id) !== undefined
  const granted = isGranted(id, approval, governor)
  if (isOwn || governs(dag, governor.id, block.id)) {
    if (granted) return overOf(call, run, question)
    return questionNumber(id) === undefined ? { governor: governor.id } : undefined
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
  return status === 'expired' && questionNumber(id) === undefined && approval?.on_timeout === 'approve'
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
  if (!Object.values(meta.children ?? {}).some(({ asks }) => asks === true)) return []
  const asking = dag.blocks.filter((one) => {
    if (childDocumentOf(one, meta.children)?.asks !== true) return false
    return governs(dag, one.id, block.id) || feeds(call, one)
  })
  if (asking.length === 0) return []
  const lanes = asking.map(({ index }) => String(index))
  const head = await world.runs.head(run, lanes)
  const found: Over[] = []
  for (const governor of head === undefined ? [] : asking) {
    const lane = blockOrdinal(call, head as Head, governor.id)
    if (lane === undefined) continue
    const { epoch, attempt } = readOrdinal(lane)
    const child = await world.runs.meta(childRunKey({ ...call, block: governor, epoch }, attempt))
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
    upstream[id] = await readPortValues(world, run.tenant, projection.outputs ?? {})
  }
  if (sources.length > Object.keys(upstream).length) return false
  return isWhenTrue(governor, resolveInputs(dag, governor, { overrides, upstream, context }).values)
}

/** What a decision is bound to: the words, the values shown, what a yes lets happen, and the digest of all of it. */
export async function describeQuestion(
  call: BlockCall,
  policy: ApprovalPolicy,
  values: Readonly<Record<string, Json>>,
): Promise<Pick<ApprovalItem, 'prompt' | 'shown' | 'digest'> & Bound> {
  const shown = await shownValues(call, policy.show, values)
  // Every input it names is a required one of the run; an optional one without a value leaves its braces standing.
  const rendered = renderTemplate(policy.prompt, values)
  const prompt = rendered.ok ? rendered.text : policy.prompt
  const bound = await storeBinding(call)
  const digest = approvalDigest({ prompt, shown, block_hash: call.block.hash, binding: bound.binding })
  return { prompt: cut(prompt), shown, digest, ...bound }
}

/** Of the words of one question, in characters: A# and a page of the inbox hold them whole. */
const MOST = 8_000

/** The digest binds the whole of it. */
function cut(prompt: string): string {
  const more = prompt.length - MOST
  if (more <= 0) return prompt
  return `${prompt.slice(0, MOST).toWellFormed()}… (${more.toLocaleString('en-US')} more characters)`
}

/**
 * The values a person is shown, as refs: ports named in `show` (`port` of this block, or `block.port` of an upstream
 * output), else every input of the block.
 */
export async function shownValues(
  call: BlockCall,
  show: readonly string[],
  inputs: Readonly<Record<string, Json>>,
): Promise<Readonly<Record<string, StoredValue>>> {
  const names = show.length > 0 ? show : Object.keys(inputs)
  const shown: Record<string, StoredValue> = {}
  for (const name of names) {
    const value = name.includes('.') ? await upstreamValue(call, name) : await inputValue(call, inputs[name])
    if (value !== undefined) shown[name] = value
  }
  return shown
}

async function inputValue({ world, run }: BlockCall, value: Json | undefined): Promise<StoredValue | undefined> {
  return value === undefined ? undefined : world.objects.put(run.tenant, Buffer.from(canonicalJson(value)))
}

async function upstreamValue(call: BlockCall, name: string): Promise<StoredValue | undefined> {
  const { world, run, index } = call
  const [block = '', port = ''] = name.split('.')
  const at = index.get(block)
  if (at === undefined) return undefined
  const head = await world.runs.head(run, [String(at)])
  const lane = head === undefined ? undefined : blockOrdinal(call, head, block)
  if (lane === undefined || readOrdinal(lane).outcome !== 'completed') return undefined
  return (await readProjections(world, run, new Map([[at, lane]]))).get(at)?.outputs?.[port]
}
