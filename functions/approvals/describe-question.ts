import type { Json } from '../../shared/canonical.ts'
import type { ApprovalPolicy } from '../../shared/dag/dag.ts'
import { renderTemplate } from '../../shared/dag/template.ts'
import { approvalDigest } from '../../shared/runs/approval-rules.ts'
import type { ApprovalItem } from '../../shared/runs/run-items.ts'
import type { BlockCall } from '../blocks/block-call.ts'
import { type Bound, bindNow } from './decision-binding.ts'
import { shownValues } from './shown-values.ts'

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
  const bound = await bindNow(call)
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
