import { canonicalJson, sha256 } from '../canonical.ts'
import { type Principal, principalName } from '../principal.ts'
import type { StoredValue } from './event.ts'
import type { HeadApproval } from './head.ts'
import type { ApprovalItem } from './run-items.ts'

/** Hash of exactly what a person is asked about: prompt, shown values and the block's definition (spec approvals). */
export function approvalDigest(asked: {
  readonly prompt: string
  readonly shown: Readonly<Record<string, StoredValue>>
  readonly block_hash: string
}): string {
  const shown = Object.fromEntries(Object.entries(asked.shown).map(([port, value]) => [port, value.sha256]))
  return sha256(canonicalJson({ prompt: asked.prompt, shown, block_hash: asked.block_hash }))
}

/**
 * Why this principal may not decide, or undefined. An empty list means whoever may approve in this deployment
 * (decisions, "Ids, hashes, names"; spec approvals, `approvers`, `self_approval`).
 */
export function refusalOf(
  item: Pick<ApprovalItem, 'approvers' | 'self_approval'>,
  principal: Principal,
  starter: string,
): { readonly code: string; readonly message: string } | undefined {
  const name = principalName(principal)
  if (item.approvers.length > 0 && !item.approvers.includes(name)) {
    const message = `"${name}" is not among the approvers (${item.approvers.join(', ')}).`
    return { code: 'not_an_approver', message }
  }
  if (!item.self_approval && name === starter) {
    const message = `"${name}" started the run and self_approval is false: somebody else must decide.`
    return { code: 'self_approval', message }
  }
  return undefined
}

/** The decision somebody made before, in words. */
export function decidedWords({ status, decided_by, decided_at, via }: HeadApproval): string {
  const by = decided_by === undefined ? '' : ` by ${decided_by}`
  const at = decided_at === undefined ? '' : ` at ${decided_at}`
  return `${status}${by}${at}${via === undefined ? '' : ` via ${via}`}`
}
