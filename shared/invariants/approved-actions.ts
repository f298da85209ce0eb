import { type Binding, boundContext, overrideHashes } from '../approvals/decision-binding.ts'
import { governingBlocks, governs } from '../approvals/governed-blocks.ts'
import type { Block, Dag } from '../dag/dag.ts'
import { approvalDigest } from '../runs/approval.ts'
import { type Pass, passesOf, passesOfBlock, passName } from '../runs/block-passes.ts'
import type { RunEvent } from '../runs/event.ts'
import { questionNumber } from '../runs/ids.ts'
import { childDocumentOf } from '../runs/run-store.ts'
import type { ApprovalItem, RunChanges } from '../runs/run-store-items.ts'
import { sha256 } from '../text/hash.ts'
import { canonicalJson, type Json } from '../text/json.ts'
import { defineInvariant, type RunParts } from './invariant.ts'
import { type RecordedParts, recordedInputs } from './reconstruct-inputs.ts'

type Parts = RecordedParts & Pick<RunParts, 'approvals'> & Partial<Pick<RunParts, 'approvals_of'>>
type Started = Extract<RunEvent, { readonly type: 'block:started' }>
type Requested = Extract<RunEvent, { readonly type: 'approval:requested' }>

/**
 * Checks that what a person said yes to is what ran (docs/approvals.md, "What a decision binds"): each question is what its
 * digest says, shows every override and binds the run's own document, and that of a child run what the run above it goes
 * on with; each block behind it, items of lists too, names the decision it stands on and worked with exactly the inputs that
 * decision bound; nothing was taken over from an earlier run without `reuse`, nor of a decision about something else.
 */
export const approvedActions = defineInvariant({
  n: 39,
  title: 'every approved action ran on what was approved, and whoever approved was shown what was not as deployed',
  of: 'objects',
  needs: ['events', 'dag', 'meta', 'context', 'approvals', 'read'],
  async check(run) {
    const asked = new Map(run.approvals.map((item) => [item.id, item]))
    const problems: string[] = takenOverProblems(run)
    const bindings = new Map<string, Binding>()
    for (const item of asked.values()) {
      if (item.binding_ref === undefined) continue
      const binding = await readBinding(run, item.binding_ref)
      if (binding === undefined) continue
      bindings.set(item.id, binding)
      problems.push(...(await questionProblems(run, item, binding)))
    }
    const people = whoAsks(run, bindings)
    for (const pass of passesOf(run.events)) problems.push(...(await passProblems(run, pass, people)))
    return problems
  },
})

/** What every attempt is held against: of a thousand blocks few ask anybody. */
interface Asking {
  readonly bindings: ReadonlyMap<string, Binding>
  readonly blocks: ReadonlyMap<string, Block>
  /** The blocks people were asked about, in document order. */
  readonly asked: readonly Block[]
  /** The blocks that open a child run which may ask. */
  readonly opening: readonly Block[]
}

function whoAsks({ events, dag, meta }: Parts, bindings: ReadonlyMap<string, Binding>): Asking {
  const ids = new Set(events.flatMap(({ type, block_id }) => (type === 'approval:requested' ? [block_id] : [])))
  return {
    bindings,
    blocks: new Map(dag.blocks.map((block) => [block.id, block])),
    asked: dag.blocks.filter(({ id }) => ids.has(id)),
    opening: dag.blocks.filter((block) => childDocumentOf(block, meta.children)?.asks === true),
  }
}

/** undefined: the object is gone, which invariant 21 says. */
async function readBinding({ read }: Parts, ref: string): Promise<Binding | undefined> {
  const body = await read(ref)
  return body === undefined ? undefined : (JSON.parse(Buffer.from(body).toString('utf8')) as Binding)
}

/** Longer ones are stored cut: their digest cannot be made again. */
const WHOLE_PROMPT = 8_000

async function questionProblems(run: Parts, item: ApprovalItem, binding: Binding): Promise<readonly string[]> {
  const { meta, dag } = run
  const { id, prompt, shown, digest, changes } = item
  const block = dag.blocks[item.block]
  const wrong: string[] = []
  const asked = { prompt, shown, block_hash: block?.hash ?? '', binding: hashOf(binding as unknown as Json) }
  if (prompt.length < WHOLE_PROMPT && approvalDigest(asked) !== digest)
    wrong.push(`${id}: its digest is not that of what it shows and binds`)
  wrong.push(...bindingProblems(run, binding).map((problem) => `${id}: it ${problem}`))
  const unshown = firstUnshown(Object.keys(meta.overrides), changes)
  if (unshown !== undefined) wrong.push(`${id}: override "${unshown}" was not shown to whoever decides`)
  const told = new Set((changes?.context ?? []).map(({ key }) => key))
  const key = meta.given?.find((one) => !told.has(one.key))?.key
  if (key !== undefined) wrong.push(`${id}: context "${key}" it began with was not shown to whoever decides`)
  if (meta.edited !== undefined && changes?.document === undefined)
    wrong.push(`${id}: that the document is another one was not shown to whoever decides`)
  return [...wrong, ...(await aboveProblems(run, item, binding))]
}

function firstUnshown(
  ports: readonly string[],
  changes: Pick<RunChanges, 'overrides'> | undefined,
): string | undefined {
  const told = new Set((changes?.overrides ?? []).map(({ port }) => port))
  return ports.find((port) => !told.has(port))
}

/** In what a binding is not of this run. */
function bindingProblems({ meta, dag }: Parts, binding: Binding): readonly string[] {
  const wrong: string[] = []
  if (binding.document !== meta.dag_hash) wrong.push("binds another document than the run's")
  if (canonicalJson(overrideHashes(meta.overrides)) !== canonicalJson({ ...binding.overrides }))
    wrong.push("binds other overrides than the run's")
  const hashes = new Map(dag.blocks.map(({ id, hash }) => [id, hash]))
  const other = Object.entries(binding.definitions ?? {}).find(([id, hash]) => hashes.get(id) !== hash)
  if (other !== undefined) wrong.push(`binds another block "${other[0]}" than the run's`)
  const child = Object.entries(binding.children ?? {}).find(([name, hash]) => {
    return (meta.children?.[name]?.hash ?? null) !== hash
  })
  if (child !== undefined) wrong.push(`binds another document "${child[0]}" than the run's`)
  return wrong
}

/** Of a question of a child run: it binds what its parent's block was claimed with, and shows what is not plain there. */
async function aboveProblems(
  run: Parts,
  { id, changes }: ApprovalItem,
  { above }: Binding,
): Promise<readonly string[]> {
  const { parent } = run.meta
  const ref = parent?.binding_ref
  if (parent === undefined || ref === undefined) return []
  const binding = await readBinding(run, ref)
  if (binding === undefined) return []
  if (hashOf(binding as unknown as Json) !== above) return [`${id}: it binds another run above it`]
  const told = changes?.above?.find(({ run_id }) => run_id === parent.run_id)
  const unshown = firstUnshown(Object.keys(binding.overrides), told)
  return unshown === undefined
    ? []
    : [`${id}: override "${unshown}" of run ${parent.run_id} was not shown to whoever decides`]
}

/** A block that asks and was taken over without a question: its document has to say so. */
function takenOverProblems({ events, dag, meta }: Parts): string[] {
  const opening = new Set(
    dag.blocks.flatMap((block) => (childDocumentOf(block, meta.children)?.asks === true ? [block.id] : [])),
  )
  const asking = new Map(dag.blocks.flatMap((block) => (block.approval === undefined ? [] : [[block.id, block]])))
  return passesOf(events).flatMap((pass) => {
    const policy = pass.item === undefined ? asking.get(pass.block_id)?.approval : undefined
    const isAsked = pass.events.some((event) => event.type === 'approval:requested' && isOfWork(event))
    const taken = pass.events.find(({ type, data }) => type === 'block:completed' && data.cached_from !== undefined)
    if (taken !== undefined && opening.has(pass.block_id))
      return [`${passName(pass)}: event ${taken.seq} takes over a child run that may ask people`]
    if (policy === undefined || policy.reuse === true || isAsked || taken === undefined) return []
    return [`${passName(pass)}: event ${taken.seq} takes over a decision, and its approval has no reuse: true`]
  })
}

async function passProblems(run: Parts, pass: Pass, people: Asking): Promise<readonly string[]> {
  const block = people.blocks.get(pass.block_id)
  if (block === undefined || block.approval !== undefined) return []
  const problems: string[] = []
  for (const started of pass.events) {
    if (started.type !== 'block:started' || workedWithNothing(pass, started)) continue
    problems.push(...(await startProblems({ run, pass, block, started }, people)))
  }
  return problems
}

interface Begun {
  readonly run: Parts
  readonly pass: Pass
  readonly block: Block
  readonly started: Started
}

/** Items of a block work with what it began with, and name nothing themselves: it stands on decisions for them. */
async function startProblems(begun: Begun, people: Asking): Promise<readonly string[]> {
  const { bindings, asked, opening } = people
  const { run, pass, block, started } = begun
  const name = `${passName(pass)}: event ${started.seq}`
  const stood = await decisionsOf(run, pass.item === undefined ? started : startOfBlock(run, pass, started))
  const granted = asked.flatMap((governor) => grantedBefore(run, governor, block, started.seq))
  const wrong = pass.item === undefined ? namedProblems(name, granted, stood, bindings) : []
  const before = [
    ...granted.flatMap(({ data }) => bindings.get(data.approval_id) ?? []),
    ...(await childBindings(begun, opening)),
    ...[...stood.keys()].flatMap((id) => bindings.get(id) ?? []).filter((one) => one.feeds?.includes(block.id)),
  ]
  const taken = await inheritedBindings(begun, stood)
  const bound = [...before, ...taken.bindings]
  // What is wrong with the decision itself is told of the block, once.
  const found = [...wrong, ...(pass.item === undefined ? taken.problems : []).map((problem) => `${name} ${problem}`)]
  if (found.length > 0 || bound.length === 0) return found
  return (await worksWith(begun, bound)) ? [] : [`${name} began with other inputs than were approved`]
}

function startOfBlock(run: Parts, pass: Pass, item: Started): Started {
  const { events = [] } = newestPass(run, pass.block_id, item.seq) ?? {}
  const mine = events.filter((event): event is Started => event.type === 'block:started' && event.seq < item.seq)
  return mine.at(-1) ?? item
}

function namedProblems(
  name: string,
  granted: readonly Requested[],
  stood: ReadonlyMap<string, string>,
  bindings: ReadonlyMap<string, Binding>,
): readonly string[] {
  const unnamed = granted.filter(({ data }) => bindings.has(data.approval_id) && !stood.has(data.approval_id))
  const other = granted.filter(({ data }) => (stood.get(data.approval_id) ?? data.digest) !== data.digest)
  return [
    ...unnamed.map(({ data }) => `${name} does not stand on decision ${data.approval_id}`),
    ...other.map(({ data }) => `${name} stands on another digest of ${data.approval_id}`),
  ]
}

async function decisionsOf({ read }: Parts, { data }: Started): Promise<ReadonlyMap<string, string>> {
  const body = data.decisions_ref === undefined ? undefined : await read(data.decisions_ref)
  const stored = body === undefined ? undefined : JSON.parse(Buffer.from(body).toString('utf8'))
  const named = (stored as Started['data']['decisions'] | undefined) ?? data.decisions ?? []
  return new Map(named.map(({ approval_id, digest }) => [approval_id, digest]))
}

/** Whether an attempt began with what its inputs are out of the bound context; of a list, and each item of it, too. */
async function worksWith({ run, pass, block, started }: Begun, bound: readonly Binding[]): Promise<boolean> {
  const { overrides } = run.meta
  const context = boundContext(run.dag as Dag, block, { overrides, context: run.context.values }, bound)
  const parts = { ...run, context: { ...run.context, values: context } }
  const { foreach, ...whole } = block
  const ways = foreach === undefined ? [block] : pass.item === undefined ? [block, whole as Block] : [block]
  for (const way of ways) {
    const values = await recordedInputs(parts, pass, way, started)
    if (values !== undefined && hashOf({ ...values }) !== started.data.inputs_hash) return false
  }
  return true
}

/** What the child runs that may have asked were opened with, of blocks before this one. */
async function childBindings({ run, block, started }: Begun, opening: readonly Block[]): Promise<readonly Binding[]> {
  const found: Binding[] = []
  for (const governor of opening) {
    if (!governs(run.dag, governor.id, block.id)) continue
    const opened = newestPass(run, governor.id, started.seq)?.events.findLast(
      (event) => event.seq < started.seq && opensChild(event) !== undefined,
    )
    const ref = opened === undefined ? undefined : opensChild(opened)
    const binding = ref === undefined ? undefined : await readBinding(run, ref)
    if (binding !== undefined) found.push(binding)
  }
  return found
}

function opensChild(event: RunEvent): string | undefined {
  return event.type === 'block:started' || event.type === 'block:resumed' ? event.data.binding_ref : undefined
}

/** The decisions a retry took over, each of the run whose result stands in for its block: they bind this run as that one. */
async function inheritedBindings(
  { run, block, started }: Begun,
  stood: ReadonlyMap<string, string>,
): Promise<Inherited> {
  const all: Inherited[] = []
  for (const governor of governingBlocks(run.dag, block.id)) {
    const from = takenFrom(run, governor.id, started.seq)
    const asked = from === undefined ? undefined : await run.approvals_of?.(from)
    const mine = asked?.filter(({ block_id, id }) => block_id === governor.id && questionNumber(id) === undefined) ?? []
    if (mine.some(({ binding_ref }) => binding_ref !== undefined)) all.push(await inheritedOf(run, mine, stood))
  }
  return { bindings: all.flatMap(({ bindings }) => bindings), problems: all.flatMap(({ problems }) => problems) }
}

interface Inherited {
  readonly bindings: readonly Binding[]
  readonly problems: readonly string[]
}

async function inheritedOf(
  run: Parts,
  asked: readonly ApprovalItem[],
  stood: ReadonlyMap<string, string>,
): Promise<Inherited> {
  const item = asked.find(({ id }) => stood.has(id))
  if (item === undefined) return { bindings: [], problems: [`does not stand on decision ${asked[0]?.id}, taken over`] }
  const binding = item.binding_ref === undefined ? undefined : await readBinding(run, item.binding_ref)
  const other = item.digest === stood.get(item.id) ? [] : [`stands on another digest of ${item.id}`]
  if (binding === undefined) return { bindings: [], problems: other }
  const wrong = bindingProblems(run, binding).map((problem) => `stands on ${item.id}, which ${problem}`)
  return { bindings: [binding], problems: [...other, ...wrong] }
}

function takenFrom(run: Parts, id: string, seq: number): string | undefined {
  const events = newestPass(run, id, seq)?.events ?? []
  if (events.some((event) => event.type === 'approval:requested' && isOfWork(event))) return undefined
  const taken = events.find((event) => event.type === 'block:completed' && event.seq < seq)
  return taken?.type === 'block:completed' ? taken.data.cached_from : undefined
}

function newestPass({ events }: Parts, id: string, seq: number): Pass | undefined {
  return passesOfBlock(events, id).findLast((one) => one.item === undefined && (one.events[0]?.seq ?? seq) < seq)
}

/** An attempt that is refused before it begins, or whose inputs could not be read, works with nothing. */
function workedWithNothing(pass: Pass, { attempt, data }: Started): boolean {
  const mine = pass.events.filter((event) => event.attempt === attempt)
  const failed = mine.find((event) => event.type === 'block:failed' || event.type === 'block:retrying')
  if (failed?.type === 'block:failed' && REFUSED.has(failed.data.code)) return true
  const isUnread = data.inputs_hash === hashOf({}) && !mine.some(({ type }) => type === 'block:output')
  return isUnread && failed !== undefined
}

const REFUSED: ReadonlySet<string> = new Set(['approval_stale', 'missing_input'])

/** Questions of a block's newest pass before event `seq` that let this one run, and were answered with yes by then. */
function grantedBefore(run: Parts, governor: Block, block: Block, seq: number): readonly Requested[] {
  const isOwn = governor.id === block.id
  if (!isOwn && !governs(run.dag, governor.id, block.id)) return []
  const events = newestPass(run, governor.id, seq)?.events.filter((event) => event.seq < seq) ?? []
  return events.filter((event): event is Requested => {
    if (event.type !== 'approval:requested' || (isOwn && isOfWork(event))) return false
    const { approval_id } = event.data
    return events.some((answer) => isYes(answer, approval_id, governor.approval?.on_timeout))
  })
}

function isOfWork({ data }: Requested): boolean {
  return questionNumber(data.approval_id) === undefined
}

function isYes(event: RunEvent, id: string, onTimeout: string | undefined): boolean {
  if (event.type === 'approval:expired')
    return event.data.approval_id === id && questionNumber(id) === undefined && onTimeout === 'approve'
  if (event.type !== 'approval:decided' || event.data.approval_id !== id) return false
  return event.data.decision !== 'reject' && event.data.have >= event.data.need
}

function hashOf(value: Json): string {
  return sha256(canonicalJson(value))
}
