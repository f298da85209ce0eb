import type { Json } from '../../shared/canonical.ts'
import type { ApprovalPolicy } from '../../shared/dag/dag.ts'
import { renderTemplate } from '../../shared/dag/template.ts'
import { approvalDigest } from '../../shared/runs/approval-rules.ts'
import type { ApprovalItem } from '../../shared/runs/run-items.ts'
import type { BlockCall } from '../blocks/block-call.ts'
import { shownValues } from './shown-values.ts'

/** What a decision is bound to: the words, the values shown, and the digest of both with the block's definition. */
export async function describeQuestion(
  call: BlockCall,
  policy: ApprovalPolicy,
  values: Readonly<Record<string, Json>>,
): Promise<Pick<ApprovalItem, 'prompt' | 'shown' | 'digest'>> {
  const shown = await shownValues(call, policy.show, values)
  // Every input it names is a required one of the run; an optional one without a value leaves its braces standing.
  const rendered = renderTemplate(policy.prompt, values)
  const prompt = rendered.ok ? rendered.text : policy.prompt
  return { prompt, shown, digest: approvalDigest({ prompt, shown, block_hash: call.block.hash }) }
}
