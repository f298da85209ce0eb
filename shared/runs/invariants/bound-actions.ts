import { type Binding, boundContext, governorsOf } from '../../approvals/binding.ts'
import { canonicalJson, type Json, sha256 } from '../../canonical.ts'
import type { Block, Dag } from '../../dag/dag.ts'
import { approvalDigest } from '../approval-rules.ts'
import { askNumber } from '../ask-id.ts'
import type { RunEvent } from '../event.ts'
import type { ApprovalItem } from '../run-items.ts'
import { invariant } from './invariant.ts'
import { endOf, nameOf, type Pass, passesOf } from './passes.ts'
import { type RecordedParts, recordedInputs } from './recorded-inputs.ts'
import type { RunParts } from './stored-run.ts'

type Parts = RecordedParts & Pick<RunParts, 'approvals'>
type Started = Extract<RunEvent, { readonly type: 'block:started' }>
type Requested = Extract<RunEvent, { readonly type: 'approval:requested' }>

/**
 * Checks that what a person said yes to is what ran (docs/approvals.md, "What a decision binds"): each question is what its
 * digest says, shows every override and binds the run's own document; each block behind it names the decision it stands on
 * and worked with exactly the inputs that decision bound; nothing was taken over from an earlier run without `reuse`.
 */
export const boundActions = invariant({
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
      problems.push(...questionProblems(run, item, binding))
    }
    for (const pass of passesOf(run.events)) problems.push(...(await passProblems(run, pass, bindings)))
    return problems
  },
})

/** undefined: the object is gone, which invariant 21 says. */
async function readBinding({ read }: Parts, ref: string): Promise<Binding | undefined> {
  const body = await read(ref)
  return body === undefined ? undefined : (JSON.parse(Buffer.from(body).toString('utf8')) as Binding)
}

/** Longer ones are stored cut: their digest cannot be made again. */
const WHOLE_PROMPT = 8_000

function questionProblems({ meta, dag }: Parts, item: ApprovalItem, binding: Binding): readonly string[] {
  const { id, prompt, shown, digest, changes } = item
  const block = dag.blocks[item.block]
  const wrong: string[] = []
  const asked = { prompt, shown, block_hash: block?.hash ?? '', binding: hashOf(binding as unknown as Json) }
  if (prompt.length < WHOLE_PROMPT && approvalDigest(asked) !== digest)
    wrong.push(`${id}: its digest is not that of what it shows and binds`)
  if (binding.document !== meta.dag_hash) wrong.push(`${id}: it binds another document than the run's`)
  const overrides = Object.fromEntries(Object.entries(meta.overrides).map(([port, value]) => [port, hashOf(value)]))
  if (canonicalJson(overrides) !== canonicalJson({ ...binding.overrides }))
    wrong.push(`${id}: it binds other overrides than the run's`)
  const told = new Set((changes?.overrides ?? []).map(({ port }) => port))
  const unshown = Object.keys(overrides).find((port) => !told.has(port))
  if (unshown !== undefined) wrong.push(`${id}: override "${unshown}" was not shown to whoever decides`)
  if (meta.edited !== undefined && changes?.document === undefined)
    wrong.push(`${id}: that the document is another one was not shown to whoever decides`)
  return wrong
}

/** A block that asks and was taken over without a question: its document has to say so. */
function takenOverProblems({ events, dag }: Parts): string[] {
  const asking = new Map(dag.blocks.flatMap((block) => (block.approval === undefined ? [] : [[block.id, block]])))
  return passesOf(events).flatMap((pass) => {
    const policy = pass.item === undefined ? asking.get(pass.block_id)?.approval : undefined
    const isAsked = pass.events.some((event) => event.type === 'approval:requested' && isOfWork(event))
    const taken = pass.events.find(({ type, data }) => type === 'block:completed' && data.cached_from !== undefined)
    if (policy === undefined || policy.reuse === true || isAsked || taken === undefined) return []
    return [`${nameOf(pass)}: event ${taken.seq} takes over a decision, and its approval has no reuse: true`]
  })
}

async function passProblems(
  run: Parts,
  pass: Pass,
  bindings: ReadonlyMap<string, Binding>,
): Promise<readonly string[]> {
  const block = run.dag.blocks.find(({ id }) => id === pass.block_id)
  if (block === undefined || pass.item !== undefined || block.approval !== undefined) return []
  const governors = governorsOf(run.dag, block.id)
  if (governors.length === 0) return []
  const begun = pass.events.filter((event): event is Started => event.type === 'block:started')
  const problems: string[] = []
  for (const started of begun)
    problems.push(...(await startProblems({ run, pass, block, started }, governors, bindings)))
  return problems
}

interface Begun {
  readonly run: Parts
  readonly pass: Pass
  readonly block: Block
  readonly started: Started
}

async function startProblems(
  { run, pass, block, started }: Begun,
  governors: readonly Block[],
  bindings: ReadonlyMap<string, Binding>,
): Promise<readonly string[]> {
  const stood = new Map((started.data.decisions ?? []).map(({ approval_id, digest }) => [approval_id, digest]))
  const granted = governors.flatMap((governor) => grantedBefore(run, governor, started.seq))
  const name = nameOf(pass)
  const unnamed = granted.filter(({ data }) => bindings.has(data.approval_id) && !stood.has(data.approval_id))
  const other = granted.filter(({ data }) => (stood.get(data.approval_id) ?? data.digest) !== data.digest)
  if (failedBefore(pass, started) !== undefined) return []
  const wrong = [
    ...unnamed.map(({ data }) => `${name}: event ${started.seq} does not stand on decision ${data.approval_id}`),
    ...other.map(({ data }) => `${name}: event ${started.seq} stands on another digest of ${data.approval_id}`),
  ]
  const bound = granted.flatMap(({ data }) => bindings.get(data.approval_id) ?? [])
  if (wrong.length > 0 || bound.length === 0) return wrong
  const context = boundContext(
    run.dag as Dag,
    block,
    { overrides: run.meta.overrides, context: run.context.values },
    bound,
  )
  const values = await recordedInputs({ ...run, context: { ...run.context, values: context } }, pass, block, started)
  if (values === undefined || hashOf({ ...values }) === started.data.inputs_hash) return []
  return [`${name}: event ${started.seq} began with other inputs than were approved`]
}

/** An attempt that is refused before it begins works with nothing. */
function failedBefore(pass: Pass, started: Started): RunEvent | undefined {
  const end = endOf(pass)
  return end?.type === 'block:failed' && end.attempt === started.attempt && REFUSED.has(end.data.code) ? end : undefined
}

const REFUSED: ReadonlySet<string> = new Set(['approval_stale', 'missing_input'])

/** The question of a block's newest pass before event `seq`, if it was answered with yes. */
function grantedBefore({ events }: Parts, { id, approval }: Block, seq: number): readonly Requested[] {
  const pass = passesOf(events).findLast((one) => {
    return one.block_id === id && one.item === undefined && (one.events[0]?.seq ?? seq) < seq
  })
  const asked = pass?.events.find(
    (event): event is Requested => event.type === 'approval:requested' && isOfWork(event) && event.seq < seq,
  )
  const answer = pass?.events.find((event) => event.seq < seq && isYes(event, approval?.on_timeout))
  return asked === undefined || answer === undefined ? [] : [asked]
}

function isOfWork({ data }: Requested): boolean {
  return askNumber(data.approval_id) === undefined
}

function isYes(event: RunEvent, onTimeout: string | undefined): boolean {
  if (event.type === 'approval:expired')
    return askNumber(event.data.approval_id) === undefined && onTimeout === 'approve'
  if (event.type !== 'approval:decided' || askNumber(event.data.approval_id) !== undefined) return false
  return event.data.decision !== 'reject' && event.data.have >= event.data.need
}

function hashOf(value: Json): string {
  return sha256(canonicalJson(value))
}
