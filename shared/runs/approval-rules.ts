import { canonicalJson, sha256 } from '../canonical.ts'
import { type Principal, personName, principalName, viaWords } from '../principal.ts'
import { approverRule, listedNames } from './approver-rule.ts'
import type { StoredValue } from './event.ts'
import type { HeadApproval, Vote } from './head.ts'
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
 * decides no more. A vote is a person's, by whichever name or token they come; where persons are counted or compared,
 * whoever cannot be told as one decides nothing (docs/approvals.md, "Persons"). `starter`: the person who started the run.
 */
export function refusalOf(
  item: Pick<ApprovalItem, 'approvers' | 'self_approval' | 'escalate' | 'quorum'>,
  approval: Pick<HeadApproval, 'escalated' | 'votes'>,
  principal: Principal,
  starter: string,
  people: People,
): { readonly code: string; readonly message: string } | undefined {
  const name = principalName(principal)
  const told = toldPerson(principal, people)
  const person = personOf(told ?? name, people)
  if (approverRule(item, approval, name, people, told) === undefined) {
    const listed = listedNames(item, approval)
    const who = listed.length === 0 ? `the default group "${people.default_group}"` : `the approvers (${few(listed)})`
    return { code: 'not_an_approver', message: `"${name}" is not among ${who}.` }
  }
  const isOthers = !(item.self_approval && people.self_approval)
  if (isOthers && person === personOf(starter, people)) {
    const said = people.self_approval ? 'self_approval is false' : 'safety.self_approval is false in sluice.yaml'
    return { code: 'self_approval', message: `"${name}" started the run and ${said}: somebody else must decide.` }
  }
  if (told === undefined && isOthers) return { code: 'person_unknown', message: unknownPerson(name) }
  return voteRefusal(item, approval, { name, told }, people)
}

/** A member of Slack's workspace of whom the settings do not say who they are may be anybody, also one who voted elsewhere. */
function toldPerson(principal: Principal, people: People): string | undefined {
  const told = personName(principal)
  const isMember = principal.kind === 'slack' && principal.person === undefined
  return isMember && told !== undefined && personOf(told, people) === told ? undefined : told
}

function voteRefusal(
  { quorum = 1 }: Pick<ApprovalItem, 'quorum'>,
  { votes = [] }: Pick<HeadApproval, 'votes'>,
  { name, told }: { readonly name: string; readonly told: string | undefined },
  people: People,
) {
  if (told === undefined) return quorum > 1 ? { code: 'person_unknown', message: unknownPerson(name) } : undefined
  const person = personOf(told, people)
  const earlier = votes.find((vote) => personOf(vote.person ?? vote.by, people) === person)
  if (earlier === undefined) return undefined
  const as = earlier.by === name ? '' : ` (as "${earlier.by}")`
  const message = `"${name}" approved it already${as} at ${earlier.at} via ${earlier.via}: the other votes are other people's.`
  return { code: 'already_voted', message }
}

/** One person's word as it is kept, of an event's or a request's members. */
export function voteOf({ by, person, via, declared }: Omit<Vote, 'at'> | Cast, at: string): Vote {
  return { by, ...(person && { person }), via, ...(declared && { declared }), at }
}

interface Cast {
  readonly by: string
  readonly person: string | undefined
  readonly via: string
  readonly declared: Vote['declared'] | undefined
}

/** The same where it decided. */
export function decidedBy({ by, person, via, declared, at }: Vote): Partial<HeadApproval> {
  return {
    decided_by: by,
    ...(person && { decided_person: person }),
    decided_at: at,
    via,
    ...(declared && { declared }),
  }
}

/** Of a caller who may be any of several people. */
export function unknownPerson(name: string): string {
  return `the person behind "${name}" cannot be told, and here persons are counted (quorum, self_approval). Come with a token of a person (\`sluice token create --person user:NAME\`), say in slack.users who a member of Slack's workspace is, or name the role in people of sluice:auth if its sessions are named after persons (docs/tokens.md).`
}

/** So many names a message has room for. */
const NAMED = 20

function few(names: readonly string[]): string {
  const more = names.length > NAMED ? ` and ${names.length - NAMED} more` : ''
  return `${names.slice(0, NAMED).join(', ')}${more}`
}

/** The decision somebody made before, in words. */
export function decidedWords({ status, decided_by, decided_at, via, declared }: HeadApproval): string {
  const by = decided_by === undefined ? '' : ` by ${decided_by}`
  const at = decided_at === undefined ? '' : ` at ${decided_at}`
  return `${status}${by}${at}${via === undefined ? '' : ` ${viaWords(via, declared)}`}`
}
