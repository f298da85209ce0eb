import type { ApprovalPolicy } from '../../shared/dag/dag.ts'
import { renderTemplate } from '../../shared/dag/template.ts'
import { approvalDigest } from '../../shared/runs/approval-rules.ts'
import { holdsWhen } from '../../shared/runs/conditions.ts'
import type { StoredValue } from '../../shared/runs/event.ts'
import { readOrdinal } from '../../shared/runs/ordinal.ts'
import type { ApprovalItem } from '../../shared/runs/run-items.ts'
import type { World } from '../../shared/world.ts'
import { type BlockCall, resolveBlockInputs } from '../blocks/block-call.ts'
import { judgeBlock } from '../blocks/judge-block.ts'
import { shownValues } from './shown-values.ts'

/** What a person is asked about a block; undefined when its inputs or pre-gates would refuse it anyway. */
export async function makeQuestion(call: BlockCall, id: string): Promise<ApprovalItem | undefined> {
  const { block, world } = call
  const policy = block.approval
  if (policy === undefined) return undefined
  const inputs = await resolveBlockInputs(call).catch(() => undefined)
  if (inputs === undefined || inputs.problems.length > 0 || !holdsWhen(block, inputs.values)) return undefined
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
