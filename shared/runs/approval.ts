import { type Principal, personName, principalName } from '../auth/principal.ts'
import { sha256 } from '../text/hash.ts'
import { canonicalJson } from '../text/json.ts'
import type { StoredValue } from './event.ts'
import type { HeadApproval, Vote } from './head.ts'
import { type People, peopleMeantBy, personOf } from './people.ts'
import type { ApprovalItem } from './run-store-items.ts'

/**
 * Hash of exactly what a person is asked about: prompt, shown values, the block's definition, and of a dispatch what a yes
 * lets happen (`binding`, the sha256 of a Binding: shared/approvals/decision-binding.ts).
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
export function decisionRefusal(
  item: Pick<ApprovalItem, 'approvers' | 'self_approval' | 'escalate' | 'quorum'>,
  approval: Pick<HeadApproval, 'escalated' | 'votes'>,
  principal: Principal,
  starter: string,
  people: People,
): { readonly code: string; readonly message: string } | undefined {
  const name = principalName(principal)
  const told = toldPerson(principal, people)
  const person = personOf(told ?? name, people)
  if (ruleThatAllows(item, approval, name, people, told) === undefined) {
    const listed = listedApprovers(item, approval)
    const who =
      listed.length === 0 ? `the default group "${people.default_group}"` : `the approvers (${fewNames(listed)})`
    return { code: 'not_an_approver', message: `"${name}" is not among ${who}.` }
  }
  const isOthers = !(item.self_approval && people.self_approval)
  if (isOthers && person === personOf(starter, people)) {
    const said = people.self_approval ? 'self_approval is false' : 'safety.self_approval is false in sluice.yaml'
    return { code: 'self_approval', message: `"${name}" started the run and ${said}: somebody else must decide.` }
  }
  if (told === undefined && isOthers) return { code: 'person_unknown', message: unknownPersonMessage(name) }
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
  if (told === undefined)
    return quorum > 1 ? { code: 'person_unknown', message: unknownPersonMessage(name) } : undefined
  const person = personOf(told, people)
  const earlier = votes.find((vote) => personOf(vote.person ?? vote.by, people) === person)
  if (earlier === undefined) return undefined
  const as = earlier.by === name ? '' : ` (as "${earlier.by}")`
  const message = `"${name}" approved it already${as} at ${earlier.at} via ${earlier.via}: the other votes are other people's.`
  return { code: 'already_voted', message }
}

/** One person's word as it is kept, of an event's or a request's members. */
export function toVote({ by, person, via, declared }: Omit<Vote, 'at'> | Cast, at: string): Vote {
  return { by, ...(person && { person }), via, ...(declared && { declared }), at }
}

interface Cast {
  readonly by: string
  readonly person: string | undefined
  readonly via: string
  readonly declared: Vote['declared'] | undefined
}

/** The same where it decided. */
export function decisionFields({ by, person, via, declared, at }: Vote): Partial<HeadApproval> {
  return {
    decided_by: by,
    ...(person && { decided_person: person }),
    decided_at: at,
    via,
    ...(declared && { declared }),
  }
}

/** Of a caller who may be any of several people. */
export function unknownPersonMessage(name: string): string {
  return `the person behind "${name}" cannot be told, and here persons are counted (quorum, self_approval). Come with a token of a person (\`sluice token create --person user:NAME\`), say in slack.users who a member of Slack's workspace is, or name the role in people of sluice:auth if its sessions are named after persons (docs/tokens.md).`
}

/** So many names a message has room for. */
const NAMED = 20

function fewNames(names: readonly string[]): string {
  const more = names.length > NAMED ? ` and ${names.length - NAMED} more` : ''
  return `${names.slice(0, NAMED).join(', ')}${more}`
}

type AskedRule = Pick<ApprovalItem, 'approvers' | 'self_approval' | 'escalate' | 'quorum'>
type Escalation = Pick<HeadApproval, 'escalated'>

/**
 * The rule by which a principal may decide, as approval:decided tells it: `anyone_allowed`, `approvers`, `alias:NAME` (a
 * listed name of the same person), `people:NAME` (whom the settings mean by it), `group:NAME`, `default_group:NAME`. Undefined: none does. An empty list means the
 * default group, or without one whoever may approve in this deployment; with a list nobody else may. `told`: the person
 * behind the name, where that is another name.
 */
export function ruleThatAllows(
  item: AskedRule,
  state: Escalation,
  name: string,
  people: People,
  told: string = name,
): string | undefined {
  const listed = listedApprovers(item, state)
  const person = personOf(told, people)
  if (item.approvers.length === 0) {
    if (people.default_group === undefined) return 'anyone_allowed'
    if (isIn(people.default_group, person, people)) return `default_group:${people.default_group}`
  }
  const meant = listed.find((other) => peopleMeantBy(other, people)?.some((one) => personOf(one, people) === person))
  if (meant !== undefined) return `people:${meant.slice('user:'.length)}`
  // Where the settings say who is meant by a name, whoever merely has it is not.
  const named = listed.filter((other) => peopleMeantBy(other, people) === undefined)
  if (named.includes(name)) return 'approvers'
  const alias = named.find((other) => !other.startsWith(GROUP) && personOf(other, people) === person)
  if (alias !== undefined) return `alias:${alias}`
  return named.find((other) => other.startsWith(GROUP) && isIn(other.slice(GROUP.length), person, people))
}

const GROUP = 'group:'

/** The approvers, and once it was escalated those besides. */
export function listedApprovers({ approvers, escalate }: AskedRule, { escalated }: Escalation): readonly string[] {
  return escalated === true ? [...approvers, ...(escalate?.to ?? [])] : approvers
}

/** A group that is not there any more is nobody. */
function isIn(group: string, person: string, people: People): boolean {
  const members = Object.hasOwn(people.groups, group) ? people.groups[group] : undefined
  return members?.some((member) => personOf(member, people) === person) === true
}

/** Hash of who may decide and how many have to, with the groups as they are now. */
export function policyHash(item: AskedRule, state: Escalation, people: People): string {
  const approvers = listedApprovers(item, state)
  const asked = approvers.flatMap((name) => (name.startsWith(GROUP) ? [name.slice(GROUP.length)] : []))
  const byDefault = item.approvers.length === 0 ? people.default_group : undefined
  const groups = [...asked, ...(byDefault === undefined ? [] : [byDefault])].map((name) => [
    name,
    (Object.hasOwn(people.groups, name) ? people.groups[name] : undefined) ?? [],
  ])
  const names = approvers.flatMap((name) => {
    const meant = peopleMeantBy(name, people)
    return meant === undefined ? [] : [[name, meant] as const]
  })
  return sha256(
    canonicalJson({
      ...(names.length === 0 ? {} : { people: Object.fromEntries(names) }),
      approvers: [...approvers],
      quorum: item.quorum ?? 1,
      self_approval: item.self_approval && people.self_approval,
      default_group: byDefault ?? null,
      groups: Object.fromEntries(groups),
    }),
  )
}

/** Whether a question is about gates that failed: the yes to it is a waiver and is called so (docs/gates.md, "Asking a person"). */
export function asksWaiver({ about }: { readonly about?: string | undefined }): boolean {
  return about === 'pre_gates' || about === 'post_gates'
}
