import type { ToolCall } from '../../shared/agents/agent-items.ts'
import { runChanges } from '../../shared/approvals/find-run-changes.ts'
import type { ApprovalPolicy } from '../../shared/dag/dag.ts'
import { Fault } from '../../shared/errors.ts'
import { approvalDigest } from '../../shared/runs/approval.ts'
import type { EventData, RunEvent } from '../../shared/runs/event.ts'
import { readOrdinal } from '../../shared/runs/lane.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { ApprovalItem, AskedNote, ChangesAbove } from '../../shared/runs/run-store-items.ts'
import { isWhenTrue } from '../../shared/runs/skip-rules.ts'
import { usedByEvent } from '../../shared/runs/usage-cost.ts'
import { sha256 } from '../../shared/text/hash.ts'
import { canonicalJson } from '../../shared/text/json.ts'
import { safeOneLine } from '../../shared/text/redact.ts'
import { TOOL_GATES } from '../../shared/tools/tool-gates.ts'
import type { World } from '../../shared/world.ts'
import { readRounds } from '../attempts/agents/read-rounds.ts'
import type { BlockCall, OpenQuestion } from '../attempts/block-call.ts'
import { toldKey, toolKey } from '../attempts/block-call.ts'
import { describeQuestion, shownValues, storeBinding } from '../attempts/decision-binding.ts'
import { gatesAskedAbout } from '../attempts/gate-waivers.ts'
import { askedInputs, attemptInputs, storeInputs } from '../attempts/inputs.ts'
import { putBackUse } from '../attempts/meter.ts'
import { judgePreGates } from '../attempts/prepare.ts'
import { endFromEarlierRun } from '../attempts/reuse.ts'
import { readPinned } from '../record/pinned-run.ts'
import { allEvents } from '../record/run-log.ts'

/** What a person is asked about a block; undefined when its inputs or pre-gates would refuse it anyway, or an earlier result stands in for it. */
export async function questionBeforeWork(call: BlockCall, id: string): Promise<ApprovalItem | undefined> {
  const { block, world } = call
  const policy = block.approval
  if (policy === undefined) return undefined
  const inputs = await attemptInputs(call).catch(whenRefused)
  if (inputs === undefined || inputs.problems.length > 0 || !isWhenTrue(block, inputs.values)) return undefined
  const { values } = inputs
  const attempt = call.resumed?.ask.attempt ?? readOrdinal(call.lane ?? 0).attempt + 1
  const pre = await judgePreGates(call, attempt, inputs).catch(whenRefused)
  // A judge that may not be asked refuses the block, which records it; of a run that is stopped nobody asks.
  if (pre === undefined || pre.refusal !== undefined || !pre.composed.passed) return undefined
  for (const event of pre.events) putBackUse(call.meter, usedByEvent(event))
  const open = { attempt, values, inputs_hash: sha256(canonicalJson(values)) }
  if ((await endFromEarlierRun(call, open)) !== undefined || call.meter.refusal !== undefined) return undefined
  const { prompt, shown, digest, binding_ref, context_version } = await describeQuestion(call, policy, values)
  // What is shown and what is bound are of one moment: when the context moved in between, the machine calls again.
  if (call.resumed === undefined && context_version !== inputs.context_version) return undefined
  const inputs_ref = await storeInputs(call, inputs)
  const question = { prompt, shown, digest, inputs_ref, binding_ref, ...(await questionChanges(call)) }
  return { id, block: block.index, block_id: block.id, ...question, ...terms(world, policy) }
}

/** The block state tells why. A store that is away for a moment refuses nothing: the machine calls again. */
function whenRefused(error: unknown): undefined {
  if (error instanceof Fault && error.name === 'Unavailable') throw error
  return undefined
}

/** Who may decide, until when, and what follows. A document that was pinned by an earlier version lacks what came since. */
function terms(world: World, policy: ApprovalPolicy) {
  const now = world.clock.now()
  const { approvers, self_approval, on_timeout, remind_sec, escalate } = policy
  const { quorum = 1, edit = [], on_reject = 'fail' } = policy
  return {
    requested_at: new Date(now).toISOString(),
    expires_at: new Date(now + policy.timeout_sec * 1_000).toISOString(),
    on_timeout,
    approvers,
    self_approval,
    quorum,
    ...(remind_sec === undefined ? {} : { remind_sec }),
    ...(escalate === undefined ? {} : { escalate }),
    edit,
    on_reject,
  }
}

/** Seconds, as an approval has that says nothing. */
const TIMEOUT_SEC = 1_800

/**
 * What a person is asked in the middle of an attempt: made of what is recorded, so that whoever asks asks the same. Who
 * may decide on the block's dispatch decides on this; without an approval of its own, who decides in this deployment.
 */
export async function questionInAttempt(call: BlockCall, ask: OpenQuestion): Promise<ApprovalItem> {
  const { world, dag, block } = call
  const { approval_id: id, about } = ask
  const asked = await firstAsked(call, id)
  if (about === 'call' && call.acting?.call !== undefined) return questionAboutCall(call, call.acting.call, ask)
  const gates = gatesAskedAbout(block, ask)
  const raise = about === 'budget' ? asked?.raise : undefined
  const shown = await shownAbout(call, ask)
  const prompt =
    about === 'lost_step'
      ? lostWords(call, ask)
      : askWords({ block: block.id, about, gates, reason: asked?.reason ?? '', raise })
  const whole = dag.blocks[block.index] ?? block
  const policy = whole.approval
  const { binding_ref, binding } = await storeBinding({ ...call, block: whole })
  const now = world.clock.now()
  return {
    id,
    block: block.index,
    block_id: block.id,
    prompt,
    shown,
    digest: approvalDigest({ prompt, shown, block_hash: block.hash, binding }),
    binding_ref,
    ...(await questionChanges(call)),
    requested_at: new Date(now).toISOString(),
    expires_at: new Date(now + TIMEOUT_SEC * 1_000).toISOString(),
    on_timeout: 'reject',
    approvers: policy?.approvers ?? [],
    self_approval: policy?.self_approval ?? true,
    about,
    ...(gates.length === 0 ? {} : { gates }),
    ...(raise === undefined ? {} : { raise }),
  }
}

/**
 * What a person is asked before an agent's tool is called: with its arguments, which they may change where the document
 * says so, and what the agent has done so far.
 */
async function questionAboutCall(
  call: BlockCall,
  { tool, args }: NonNullable<NonNullable<BlockCall['acting']>['call']>,
  ask: OpenQuestion,
): Promise<ApprovalItem> {
  const { world, dag, block } = call
  const isForm = tool.use === 'ask_person'
  const fields = isForm ? Object.keys(block.inputs).filter((port) => !Object.hasOwn(args, port)) : []
  const policy = { ...CALL_POLICY, ...tool.approval?.policy, ...(isForm ? { edit: fields } : {}) }
  const gates = gatesAskedAbout(block, ask)
  const own = new Set<string>(TOOL_GATES)
  const reasons = gates.map(({ name, reason }) => (own.has(name) ? reason : `Gate "${name}" does not hold: ${reason}`))
  const prompt = [...reasons, await callWords(call, tool.use)].join('\n')
  const shown = await shownValues(call, policy.show, args)
  const whole = dag.blocks[block.index] ?? block
  const { binding_ref, binding } = await storeBinding({ ...call, block: whole })
  const { on_timeout: _, ...decided } = terms(world, policy)
  return {
    id: ask.approval_id,
    block: block.index,
    block_id: block.id,
    prompt,
    shown,
    digest: approvalDigest({ prompt, shown, block_hash: block.hash, binding }),
    binding_ref,
    ...(await questionChanges(call)),
    ...decided,
    tool: tool.use,
    ...(tool.approval?.allow_rest === true ? { allow_rest: true } : {}),
    edit_types: Object.fromEntries(policy.edit.map((port) => [port, block.inputs[port]?.type ?? 'json'])),
    // A call nobody answered for is not made; the model is told so.
    on_timeout: 'reject',
    about: 'call',
  }
}

/** Where the document says nothing of who is asked. */
const CALL_POLICY: ApprovalPolicy = {
  prompt: '',
  show: [],
  approvers: [],
  quorum: 1,
  self_approval: true,
  timeout_sec: TIMEOUT_SEC,
  on_timeout: 'reject',
  edit: [],
  on_reject: 'fail',
  max_iterations: 1,
}

/** Which call it is, and what came before it. */
async function callWords(call: BlockCall, use: string): Promise<string> {
  const { acting, block, head } = call
  const { ends, projections } = await readRounds(call)
  const made = [...projections].filter(([item, { state }]) => item % 100 !== 0 && state === 'completed').length
  const turns = [...ends.keys()].filter((item) => item % 100 === 0).length
  const spent = head.budget.spent_usd_micros
  const cost = spent === 0 ? '' : `; the run has cost $${(spent / 1_000_000).toFixed(6).replace(/0{1,4}$/, '')}`
  const place = `call ${acting?.call?.n ?? 1} of turn ${(acting?.turn ?? 0) + 1} of block "${block.id}"`
  return `Tool ${use}, ${place}. So far: ${counted(turns, 'turn')}, ${counted(made, 'call')} made${cost}.`
}

function counted(n: number, thing: string): string {
  return `${n} ${thing}${n === 1 ? '' : 's'}`
}

/** Items of a block share a question: it is that of the first of them. */
async function firstAsked({ world, run }: BlockCall, id: string): Promise<EventData<'block:asked'> | undefined> {
  const events = await allEvents(world, run)
  const first = events.find((event) => event.type === 'block:asked' && event.data.approval_id === id)
  return first?.type === 'block:asked' ? first.data : undefined
}

/** The inputs that were refused, or the outputs that are published if the gates are waived. */
async function shownAbout(call: BlockCall, ask: OpenQuestion): Promise<ApprovalItem['shown']> {
  if (ask.about === 'post_gates') return ask.projection.outputs ?? {}
  return ask.about === 'pre_gates' ? shownValues(call, [], (await askedInputs(call, ask)).values) : {}
}

interface Asking {
  readonly block: string
  readonly about: AskedNote['about']
  readonly gates: readonly { readonly name: string; readonly reason: string }[]
  readonly reason: string
  readonly raise: { readonly tokens?: number | undefined; readonly usd_micros?: number | undefined } | undefined
}

/** The question a person reads: what stands in the way, and what a yes means. */
function askWords({ block, about, gates, reason, raise }: Asking): string {
  if (about === 'budget')
    return `${reason}\nA yes raises the cap of the run to ${capWords(raise)}, and the block goes on.`
  const lines = gates.map(({ name, reason: why }) => `- ${name}: ${why}`)
  const [what, yes] =
    about === 'pre_gates'
      ? [`Block "${block}" may not begin: its pre-gates do not hold.`, 'Waive them and begin?']
      : [`Block "${block}" is done, but its post-gates do not hold.`, 'Waive them and publish its outputs?']
  return [what, ...lines, yes].join('\n')
}

/** What is known of work that was lost in the middle, and what a yes and a no mean. */
function lostWords(call: BlockCall, { attempt, projection, events }: OpenQuestion): string {
  const { block, item } = call
  const asked = events.findLast(({ type }) => type === 'block:asked')
  const began = events.find(({ type }) => type === 'step:started')
  const newest = events.findLast(({ type }) => type === 'step:progress')
  const key = toldKey(call, attempt, projection.untried)
  const tool = call.acting?.call
  if (tool !== undefined) return lostCallWords(call, tool, asked?.type === 'block:asked' ? asked.data.reason : '')
  const [of, others] =
    item === undefined
      ? ['', '']
      : [`item ${item} of `, ' So is every other item of it that is found lost until this is answered.']
  return [
    `The work of ${of}block "${block.id}" may be done once only (effect: once), and was lost in the middle. Nobody knows how far it came; look what it did before you answer.`,
    `- ${asked?.type === 'block:asked' ? asked.data.reason : `attempt ${attempt} was lost`}`,
    `- under way since ${began?.at ?? 'an unknown time'}`,
    `- the newest it said of itself: ${progressWords(newest)}`,
    `- its key, by which a service may know it: ${key}`,
    `A yes lets it be done again, as attempt ${attempt + 1}.${others} A no fails the block (step_effect_unknown).`,
  ].join('\n')
}

/** The same of a call that an agent made. */
function lostCallWords(call: BlockCall, told: ToolCall, reason: string): string {
  const { block, acting } = call
  const { n, tool, args } = told
  const place = `call ${n} of turn ${(acting?.turn ?? 0) + 1} of block "${block.id}"`
  return [
    `The agent called ${tool.use} (${place}), and what came of it was lost. Nobody knows whether it was done; look before you answer.`,
    `- with ${safeOneLine(canonicalJson(args), 600)}`,
    `- ${reason}`,
    `- its key, by which a service may know it: ${toolKey(call, told)}`,
    'A yes makes the call again. A no tells the agent that nobody knows.',
  ].join('\n')
}

function progressWords(event: RunEvent | undefined): string {
  if (event?.type !== 'step:progress') return 'nothing'
  const { fraction, note } = event.data
  return `${Math.round(fraction * 100)} %${note === '' ? '' : `, ${JSON.stringify(note)}`} at ${event.at}`
}

function capWords({ tokens, usd_micros }: NonNullable<Asking['raise']> = {}): string {
  const words = [
    ...(tokens === undefined ? [] : [`${tokens.toLocaleString('en-US')} tokens`]),
    ...(usd_micros === undefined ? [] : [`$${(usd_micros / 1_000_000).toFixed(6).replace(/0{1,4}$/, '')}`]),
  ]
  return words.join(' and ')
}

type ReadWorld = Pick<World, 'runs' | 'objects'>

/**
 * In what a run, and each run above it, differs from a plain start of its deployed document: a question of a child run
 * lets the blocks of those go on too. Events are read only where the context was ever patched.
 */
async function questionChanges({
  world,
  run,
}: {
  readonly world: ReadWorld
  readonly run: RunKey
}): Promise<Pick<ApprovalItem, 'changes'>> {
  const { meta } = await readPinned(world, run)
  const own = await changesOf(world, run)
  const above: ChangesAbove[] = []
  for (let parent = meta.parent; parent !== undefined; ) {
    const key = { tenant: run.tenant, run_id: parent.run_id }
    const { meta: of } = await readPinned(world, key)
    const changes = await changesOf(world, key)
    if (changes !== undefined) above.push({ run_id: of.run_id, dag_name: of.dag_name, ...changes })
    parent = of.parent
  }
  if (own === undefined && above.length === 0) return {}
  return { changes: { ...own, ...(above.length === 0 ? {} : { above }) } }
}

async function changesOf(world: ReadWorld, run: RunKey) {
  const { meta } = await readPinned(world, run)
  const context = await world.runs.context(run)
  const events = (context?.version ?? 0) > 0 ? await allEvents(world, run) : []
  return runChanges(meta, events)
}
