import * as z from 'zod'
import { sha256 } from '../../shared/canonical.ts'
import type { ApprovalPolicy } from '../../shared/dag/dag.ts'
import { renderTemplate } from '../../shared/dag/template.ts'
import { approvalDigest } from '../../shared/runs/approval-rules.ts'
import { earlier } from '../../shared/runs/check-at.ts'
import type { NewEvent, StoredValue } from '../../shared/runs/event.ts'
import { approvalId } from '../../shared/runs/ids.ts'
import { ordinal, PHASE, readOrdinal } from '../../shared/runs/ordinal.ts'
import type { ApprovalItem } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { type BlockCall, openBlockCall, resolveBlockInputs, unmetUpstream } from '../blocks/block-call.ts'
import { judgeBlock } from '../blocks/judge-block.ts'
import { functionHandler } from '../handler.ts'
import { MachineInputSchema, runOf } from '../runs/machine-input.ts'
import { shownValues } from './shown-values.ts'

const InputSchema = z.strictObject({ in: MachineInputSchema, block: z.string().min(1), token: z.string().min(1) })

/**
 * `_approve_<id>`: asks a person about a block that would otherwise be dispatched now, and leaves the task token in
 * the store. A block that would be skipped or refused, or was decided on already, is not asked about: the token is
 * answered at once and the block state does the rest (decisions, "Approvals and questions").
 */
export const handler = functionHandler({
  name: 'request-approval',
  input: InputSchema,
  async run({ in: input, block, token }, world) {
    const call = await openBlockCall(world, runOf(input), block)
    const waiting = (await isAskable(call)) && (await ask(call, token))
    if (!waiting) await world.machine.answer(token, { ok: {} })
    return {}
  },
})

async function isAskable(call: BlockCall): Promise<boolean> {
  const { block, head, run } = call
  if (block.approval === undefined || head.state !== 'running') return false
  if (readOrdinal(call.lane ?? 0).outcome !== undefined) return false
  const known = head.approvals[approvalId(run.run_id, block.index, 0)]
  if (known !== undefined) return known.status === 'pending'
  return unmetUpstream(call).length === 0
}

/** Whether the token now waits for a decision. */
async function ask(call: BlockCall, token: string): Promise<boolean> {
  const { world, run, block, head } = call
  const id = approvalId(run.run_id, block.index, 0)
  const known = await world.runs.approval(run, id)
  const item = head.approvals[id] === undefined ? await question(call, id) : known
  if (item === undefined) return false
  // Token first, then HEAD; a decider writes HEAD first, then reads the token: one of the two sees the other.
  await world.runs.putApproval(run, { ...item, token })
  if (head.approvals[id] === undefined) await appendRequested(call, item)
  const now = await world.runs.head(run, [])
  return now?.state === 'running' && now.approvals[id]?.status === 'pending'
}

async function question(call: BlockCall, id: string): Promise<ApprovalItem | undefined> {
  const { block, world } = call
  const policy = block.approval
  if (policy === undefined) return undefined
  const inputs = await resolveBlockInputs(call).catch(() => undefined)
  if (inputs === undefined || inputs.problems.length > 0) return undefined
  const facts = { inputs: inputs.values, outputs: {}, measured: { cost_usd: null, latency_ms: null } }
  const pre = await judgeBlock(call, 'pre', readOrdinal(call.lane ?? 0).attempt + 1, facts)
  if (!pre.composed.passed) return undefined
  const shown = await shownValues(call, policy.show, inputs.values)
  // Every input it names is a required one of the run; an optional one without a value leaves its braces standing.
  const rendered = renderTemplate(policy.prompt, inputs.values)
  const prompt = rendered.ok ? rendered.text : policy.prompt
  return { id, block: block.index, block_id: block.id, prompt, ...words(world, call, policy, prompt, shown) }
}

function words(
  world: World,
  { block }: BlockCall,
  policy: ApprovalPolicy,
  prompt: string,
  shown: Readonly<Record<string, StoredValue>>,
) {
  const now = world.clock.now()
  const { approvers, self_approval, on_timeout } = policy
  const digest = approvalDigest({ prompt, shown, block_hash: block.hash })
  const expires_at = new Date(now + policy.timeout_sec * 1_000).toISOString()
  return {
    shown,
    digest,
    requested_at: new Date(now).toISOString(),
    expires_at,
    on_timeout,
    approvers,
    self_approval,
  }
}

async function appendRequested({ world, run, block, head, lane }: BlockCall, item: ApprovalItem): Promise<void> {
  const { id, digest, expires_at, approvers } = item
  const data = {
    approval_id: id,
    digest,
    prompt_hash: sha256(item.prompt),
    expires_at,
    approvers: [...approvers],
    quorum: 1,
  }
  const ready: NewEvent[] = lane === undefined ? [{ type: 'block:ready', block_id: block.id, data: {} }] : []
  const step = ordinal({ epoch: 0, attempt: 0, phase: PHASE.claimed })
  await world.runs.append({
    run,
    lane: `a${block.index.toString(36)}`,
    ordinal: step,
    guard: { below: step },
    at: item.requested_at,
    events: [...ready, { type: 'approval:requested', block_id: block.id, data }],
    approval: { id, was: null, set: { block: block.index, status: 'pending', expires_at, digest } },
    check_at: earlier(head.check_at, expires_at),
  })
}
