import type { Decision } from '../../shared/api/control-routes.ts'
import { type Binding, bindingDifferences } from '../../shared/approvals/decision-binding.ts'
import type { Principal } from '../../shared/auth/principal.ts'
import { Fault, type Issue } from '../../shared/errors.ts'
import { asksWaiver, decisionRefusal } from '../../shared/runs/approval.ts'
import { earlierDecisionWords } from '../../shared/runs/approval-words.ts'
import { fitsPort } from '../../shared/runs/block-inputs.ts'
import type { Head, HeadApproval, RestartMode } from '../../shared/runs/head.ts'
import { approvalEpoch, questionNumber } from '../../shared/runs/ids.ts'
import { peopleOf } from '../../shared/runs/people.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { ApprovalItem } from '../../shared/runs/run-store-items.ts'
import { sha256 } from '../../shared/text/hash.ts'
import { canonicalJson, type Json } from '../../shared/text/json.ts'
import type { World } from '../../shared/world.ts'
import { readPinned } from '../record/pinned-run.ts'
import { missingRunFault } from '../require-run.ts'

type CheckWorld = Pick<World, 'runs' | 'objects' | 'settings'>

/** What a decision brings, in the object store. */
export interface StoredDecision {
  readonly feedback_ref?: string
  readonly edits_ref?: string
  readonly edits_hash?: string
  readonly iterate?: RestartMode
  readonly rest?: true
  readonly stop?: true
}

/**
 * Everything that may be wrong with a decision on an approval that is pending, the most telling first: who decides
 * (Rejected not_an_approver, self_approval; Conflict already_voted), on what (digest_changed), with which word
 * (waive_expected, nothing_to_waive) and with what (reason_required, iterate_not_allowed, invalid_edits).
 */
export async function checkDecision(
  world: CheckWorld,
  run: RunKey,
  principal: Principal,
  decision: Decision,
  { item, approval }: Picked,
): Promise<StoredDecision> {
  const { meta } = await readPinned(world, run)
  const refusal = decisionRefusal(
    item,
    approval,
    principal,
    meta.starter_person ?? meta.starter,
    peopleOf(world.settings),
  )
  if (refusal !== undefined) {
    const name = refusal.code === 'already_voted' ? 'Conflict' : 'Rejected'
    throw new Fault(name, refusal.code, `Cannot decide approval "${item.id}": ${refusal.message}`)
  }
  const { digest, feedback } = decision
  if (digest !== undefined && digest !== item.digest) throw await digestChanged(world, run, item, digest)
  requireWord(item, decision)
  const iterate = iterationOf(item, decision)
  requireReason(item, decision, iterate)
  requireCall(item, decision)
  const isEdited = Object.keys(decision.edits ?? {}).length > 0
  const edits = isEdited ? await checkEdits(world, run, item, decision) : undefined
  const put = (text: string) => world.objects.put(run.tenant, Buffer.from(text))
  return {
    ...(feedback === undefined ? {} : { feedback_ref: (await put(feedback)).ref }),
    ...(edits === undefined ? {} : { edits_ref: (await put(edits)).ref, edits_hash: sha256(edits) }),
    ...(iterate === undefined ? {} : { iterate }),
    ...whatFollows(decision),
  }
}

function whatFollows({ allow_rest, stop }: Decision): Pick<StoredDecision, 'rest' | 'stop'> {
  return { ...(allow_rest === true ? { rest: true } : {}), ...(stop === true ? { stop: true } : {}) }
}

/** What only a call of an agent's tool can be answered with. */
function requireCall({ id, about, allow_rest }: ApprovalItem, given: Decision): void {
  if (given.allow_rest === true && (allow_rest !== true || given.decision !== 'approve')) {
    const why = allow_rest === true ? 'only a yes does that' : 'its document has no allow_rest: true'
    throw unprocessable(
      'allow_rest_not_allowed',
      `Cannot allow the tool for the rest of the run with approval "${id}": ${why}.`,
    )
  }
  if (given.stop === true && (about !== 'call' || given.decision !== 'reject')) {
    const why = about === 'call' ? 'only a rejection does that' : 'it is about no call of a tool'
    throw unprocessable('stop_not_allowed', `Cannot stop the agent with approval "${id}": ${why}.`)
  }
}

const ASKS_OF: Readonly<Record<NonNullable<ApprovalItem['about']>, string>> = {
  dispatch: 'a dispatch',
  pre_gates: 'gates',
  post_gates: 'gates',
  budget: 'the budget',
  lost_step: 'a step that was lost in the middle of its work',
  call: 'the call of a tool',
}

/** A yes to failed gates is a waiver and is called so; every other yes is an approval. */
function requireWord({ id, about = 'dispatch' }: ApprovalItem, { decision }: Decision): void {
  const isGates = asksWaiver({ about })
  if (decision === 'approve' && isGates) {
    const message = `Cannot approve "${id}": it asks to waive gates that failed. Send "waive" with a reason, or reject it.`
    throw new Fault('Conflict', 'waive_expected', message)
  }
  if (decision === 'waive' && !isGates) {
    const message = `Cannot waive "${id}": it asks about ${ASKS_OF[about]}, and no gate has failed. Send "approve" or "reject".`
    throw new Fault('Conflict', 'nothing_to_waive', message)
  }
}

function iterationOf({ id, on_reject = 'fail' }: ApprovalItem, given: Decision): RestartMode | undefined {
  const { decision, iterate, restart_mode } = given
  const isAsked = iterate === true || restart_mode !== undefined
  if (isAsked && (on_reject !== 'iterate' || decision !== 'reject' || iterate === false)) {
    const why =
      on_reject === 'iterate'
        ? 'only a rejection does that'
        : `its block has on_reject: ${on_reject}; a rejection makes another run only with on_reject: iterate`
    throw unprocessable('iterate_not_allowed', `Cannot iterate with approval "${id}": ${why}.`)
  }
  if (decision !== 'reject' || on_reject !== 'iterate' || iterate === false) return undefined
  return restart_mode ?? 'refine'
}

/** What somebody else, or a model, is to go on from needs words. */
function requireReason(
  { id, on_reject = 'fail' }: ApprovalItem,
  { decision, feedback }: Decision,
  iterate: RestartMode | undefined,
): void {
  if (feedback !== undefined && feedback.trim() !== '') return
  const isRouted = decision === 'reject' && on_reject === 'route'
  if (decision !== 'waive' && iterate === undefined && !isRouted) return
  const why = decision === 'waive' ? 'a waiver is recorded with its reason' : `on_reject is ${on_reject}`
  throw unprocessable('reason_required', `Cannot ${decision} "${id}" without a reason: ${why}. Send "feedback".`)
}

function unprocessable(code: string, message: string): Fault {
  return new Fault('InvalidInput', code, message, { status: 422 })
}

/** An approval somebody decides on, as it was read. */
export interface Picked {
  readonly id: string
  readonly head: Head
  readonly item: ApprovalItem
  readonly approval: HeadApproval
}

/**
 * The approval a decision means: by id, by block, or the only pending one. NotFound for an unknown run or id; Conflict
 * NOT_YET_ASKED, several_pending, nothing_pending, no_open_ask (a waiver) or run_ended when there is none to decide.
 */
export async function pickApproval(
  world: Pick<World, 'runs' | 'objects'>,
  run: RunKey,
  decision: Decision,
): Promise<Picked> {
  const head = await world.runs.head(run)
  if (head === undefined) throw await missingRunFault(world, run, `Cannot decide about run "${run.run_id}"`)
  const id = decision.approval_id ?? (await idOf(world, run, head, decision))
  const approval = head.approvals[id]
  const item = await world.runs.approval(run, id)
  if (approval === undefined || item === undefined) {
    throw new Fault('NotFound', 'unknown_approval', `Cannot decide: run "${run.run_id}" has no approval "${id}".`)
  }
  if (head.state !== 'running' && approval.status === 'pending') {
    throw new Fault('Conflict', 'run_ended', `Cannot decide approval "${id}": the run is ${head.state}.`)
  }
  return { id, head, item, approval }
}

type PickWorld = Pick<World, 'runs' | 'objects'>

async function idOf(world: PickWorld, run: RunKey, head: Head, decision: Decision): Promise<string> {
  if (decision.block_id !== undefined) return idOfBlock(world, run, head, decision.block_id, decision.decision)
  const entries = Object.entries(head.approvals)
  const pending = entries.filter(([, { status }]) => status === 'pending')
  const [only] = pending
  if (only !== undefined && pending.length === 1) return only[0]
  if (pending.length > 1) {
    const message = `Cannot tell which approval is meant: ${pending.map(([id]) => id).join(', ')} are pending. Send approval_id or block_id.`
    throw new Fault('Conflict', 'several_pending', message)
  }
  if (decision.decision === 'waive') throw noOpenAsk(run, 'BLOCK')
  const last = entries.at(-1)
  const before = last === undefined ? '' : ` The last one, "${last[0]}", is ${earlierDecisionWords(last[1])}.`
  const message = `Cannot decide: no approval of run "${run.run_id}" is pending (the run is ${head.state}).${before}`
  throw new Fault('Conflict', last === undefined ? 'nothing_pending' : 'already_decided', message)
}

async function idOfBlock(
  world: PickWorld,
  run: RunKey,
  head: Head,
  blockId: string,
  word: Decision['decision'],
): Promise<string> {
  const { dag, index } = await readPinned(world, run)
  const block = dag.blocks[index.get(blockId) ?? -1]
  const asked = Object.keys(head.approvals).filter((id) => head.approvals[id]?.block === block?.index)
  const last = asked.toSorted((a, b) => askedOrder(a) - askedOrder(b)).at(-1)
  const isOpen = last !== undefined && head.approvals[last]?.status === 'pending'
  if (block !== undefined && word === 'waive' && !isOpen) throw noOpenAsk(run, block.id)
  if (last !== undefined) return last
  if (block?.approval === undefined) {
    const asking = dag.blocks.flatMap(({ id, approval }) => (approval === undefined ? [] : [id]))
    const message = `Cannot decide: block "${blockId}" of DAG "${dag.name}" asks nobody. Blocks that do: ${asking.join(', ') || 'none'}.`
    throw new Fault('NotFound', 'unknown_approval', message)
  }
  const message = `Cannot decide: block "${blockId}" has not asked yet. Wait for approval:requested.`
  throw new Fault('Conflict', 'NOT_YET_ASKED', message)
}

/** The newest pass last, and in it the question before the work before those in the middle of it. */
function askedOrder(id: string): number {
  return approvalEpoch(id) * 1_000 + (questionNumber(id) ?? 0)
}

/** A waiver is the answer to a question; what has ended stays as it ended. */
function noOpenAsk({ run_id }: RunKey, block: string): Fault {
  const message = `Cannot waive: ${block === 'BLOCK' ? `run "${run_id}"` : `block "${block}"`} asks nothing now. What has ended is done again with \`sluice run retry ${run_id} --from ${block}\`.`
  return new Fault('Conflict', 'no_open_ask', message)
}

/** As of the values a run starts with. */
const MOST_BYTES = 204_800

/**
 * The inputs a person changes as they approve, as canonical JSON: only ports the block lets be edited, of the port's
 * type, 200 KiB together. Fault InvalidInput invalid_edits (422) lists all that is wrong; edits_too_large (413).
 */
async function checkEdits(
  world: Pick<World, 'runs' | 'objects'>,
  run: RunKey,
  { id, block, edit = [], edit_types = {} }: ApprovalItem,
  { decision, edits = {} }: Decision,
): Promise<string> {
  if (decision !== 'approve') throw invalid(id, [{ path: 'edits', message: `A ${decision} takes no edits.` }])
  const { dag } = await readPinned(world, run)
  const issues = Object.entries(edits).flatMap(([port, value]): readonly Issue[] => {
    const path = `edits.${port}`
    if (!edit.includes(port)) {
      const allowed = edit.length === 0 ? 'none may be edited' : `${edit.join(', ')} may be edited`
      return [{ path, message: `Input "${port.slice(0, 80)}" may not be edited; ${allowed}.` }]
    }
    const type = edit_types[port] ?? dag.blocks[block]?.inputs[port]?.type ?? 'json'
    if (value !== null && fitsPort(type, value)) return []
    return [{ path, message: `Input "${port}" must be ${type}, got ${nameOf(value)}.` }]
  })
  if (issues.length > 0) throw invalid(id, issues)
  const text = canonicalJson(edits)
  const bytes = Buffer.byteLength(text)
  if (bytes <= MOST_BYTES) return text
  const message = `Cannot decide approval "${id}": the edits have ${bytes} bytes, at most ${MOST_BYTES} are allowed. Put large values into files.`
  throw new Fault('InvalidInput', 'edits_too_large', message, { status: 413 })
}

function invalid(id: string, issues: readonly Issue[]): Fault {
  const words = issues.length === 1 ? issues[0]?.message : `${issues.length} edits are wrong.`
  const message = `Cannot decide approval "${id}": ${words}`
  return new Fault('InvalidInput', 'invalid_edits', message, { status: 422, issues: issues.slice(0, 20) })
}

function nameOf(value: Json): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

/**
 * A decision about something else than is asked now: Fault Conflict digest_changed says what changed since, where the
 * digest is of another question of this block (of an earlier pass, say), else what is shown now.
 */
async function digestChanged(
  world: Pick<World, 'runs' | 'objects'>,
  run: RunKey,
  item: ApprovalItem,
  sent: string,
): Promise<Fault> {
  const earlier = (await world.runs.approvals(run)).find(({ digest, block }) => digest === sent && block === item.block)
  const changed = earlier === undefined ? undefined : await changesOf(world, run, earlier, item)
  const words = changed === undefined ? shownWords(item) : changedWords(earlier?.id ?? '', changed)
  const message = `Cannot decide approval "${item.id}": what it shows has digest ${item.digest}, you sent ${sent}. ${words}. Look at it again and send its digest.`
  return new Fault('Conflict', 'digest_changed', message, {
    facts: { digest: item.digest, sent, ...(changed === undefined ? {} : { changed }) },
  })
}

function shownWords({ shown }: ApprovalItem): string {
  const values = Object.entries(shown).map(([port, { sha256 }]) => `${port} sha256 ${sha256.slice(0, 12)}`)
  return `It shows ${values.join(', ') || 'no values'}`
}

function changedWords(id: string, changed: readonly string[]): string {
  const names = changed.map((name) => (/^\w+$/.test(name) ? `"${name}"` : name))
  return `What you sent is the digest of "${id}"; since then ${names.join(', ')} changed`
}

const PROMPT = 'the prompt'
const DEFINITION = "the block's definition"

/** What is shown that is other, new or gone, the prompt; else what a yes binds; else it can only be the definition. */
async function changesOf(
  { objects }: Pick<World, 'objects'>,
  { tenant }: RunKey,
  earlier: ApprovalItem,
  now: ApprovalItem,
): Promise<readonly string[]> {
  const ports = [...new Set([...Object.keys(earlier.shown), ...Object.keys(now.shown)])]
  const changed = ports.filter((port) => hashOf(earlier, port) !== hashOf(now, port))
  const shown = [...changed, ...(earlier.prompt === now.prompt ? [] : [PROMPT])]
  if (shown.length > 0) return shown
  const [then, today] = [await bindingOf(objects, tenant, earlier), await bindingOf(objects, tenant, now)]
  const bound = then === undefined || today === undefined ? [] : bindingDifferences(then, today)
  return bound.length > 0 ? bound : [DEFINITION]
}

async function bindingOf(
  objects: World['objects'],
  tenant: string,
  { binding_ref }: ApprovalItem,
): Promise<Binding | undefined> {
  if (binding_ref === undefined) return undefined
  return JSON.parse(Buffer.from(await objects.get(tenant, binding_ref)).toString('utf8')) as Binding
}

function hashOf({ shown }: ApprovalItem, port: string): string | undefined {
  return Object.hasOwn(shown, port) ? shown[port]?.sha256 : undefined
}
