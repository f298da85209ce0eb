import { canonicalJson, sha256 } from '../canonical.ts'
import { type Principal, principalName } from '../principal.ts'
import { approverRule, listedNames } from './approver-rule.ts'
import type { StoredValue } from './event.ts'
import type { HeadApproval } from './head.ts'
import { type People, personOf } from './people.ts'
import type { ApprovalItem } from './run-items.ts'

/**
 * Hash of exactly what a person is asked about: prompt, shown values, the block's definition, and of a dispatch what a yes
 * lets happen (`binding`, the sha256 of a Binding: shared/approvals/binding.ts).
 */
export function approvalDigest(asked: {
  readonly prompt: string
  readonly shown: Readonly<Record<string, StoredValue>>
  readonly block_hash: string
  readonly binding?: string
}): string {
  const shown = Object.fromEntries(Object.entries(asked.shown).map(([port, value]) => [port, value.sha256]))
  const { prompt, block_hash, binding } = asked
  return sha256(canonicalJson({ prompt, shown, block_hash, ...(binding === undefined ? {} : { binding }) }))
}

/**
 * Why this principal may not decide now, or undefined. Groups and aliases are those of this moment: who has left a group
 * decides no more. A vote is a person's, by whichever name they come (spec approvals; docs/approvals.md).
 */
export function refusalOf(
  item: Pick<ApprovalItem, 'approvers' | 'self_approval' | 'escalate' | 'quorum'>,
  approval: Pick<HeadApproval, 'escalated' | 'votes'>,
  principal: Principal,
  starter: string,
  people: People,
): { readonly code: string; readonly message: string } | undefined {
  const name = principalName(principal)
  const person = personOf(name, people)
  if (approverRule(item, approval, name, people) === undefined) {
    const listed = listedNames(item, approval)
    const who = listed.length === 0 ? `the default group "${people.default_group}"` : `the approvers (${few(listed)})`
    return { code: 'not_an_approver', message: `"${name}" is not among ${who}.` }
  }
  if (!(item.self_approval && people.self_approval) && person === personOf(starter, people)) {
    const said = people.self_approval ? 'self_approval is false' : 'safety.self_approval is false in sluice.yaml'
    return { code: 'self_approval', message: `"${name}" started the run and ${said}: somebody else must decide.` }
  }
  const earlier = approval.votes?.find(({ by }) => personOf(by, people) === person)
  if (earlier === undefined) return undefined
  const as = earlier.by === name ? '' : ` (as "${earlier.by}")`
  const message = `"${name}" approved it already${as} at ${earlier.at} via ${earlier.via}: the other votes are other people's.`
  return { code: 'already_voted', message }
}

/** So many names a message has room for. */
const NAMED = 20

function few(names: readonly string[]): string {
  const more = names.length > NAMED ? ` and ${names.length - NAMED} more` : ''
  return `${names.slice(0, NAMED).join(', ')}${more}`
}

/** The decision somebody made before, in words. */
export function decidedWords({ status, decided_by, decided_at, via }: HeadApproval): string {
  const by = decided_by === undefined ? '' : ` by ${decided_by}`
  const at = decided_at === undefined ? '' : ` at ${decided_at}`
  return `${status}${by}${at}${via === undefined ? '' : ` via ${via}`}`
}
