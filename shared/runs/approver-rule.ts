import { canonicalJson, sha256 } from '../canonical.ts'
import type { HeadApproval } from './head.ts'
import { meantBy, type People, personOf } from './people.ts'
import type { ApprovalItem } from './run-items.ts'

type Question = Pick<ApprovalItem, 'approvers' | 'self_approval' | 'escalate' | 'quorum'>
type State = Pick<HeadApproval, 'escalated'>

/**
 * The rule by which a principal may decide, as approval:decided tells it: `anyone_allowed`, `approvers`, `alias:NAME` (a
 * listed name of the same person), `people:NAME` (whom the settings mean by it), `group:NAME`, `default_group:NAME`. Undefined: none does. An empty list means the
 * default group, or without one whoever may approve in this deployment; with a list nobody else may. `told`: the person
 * behind the name, where that is another name.
 */
export function approverRule(
  item: Question,
  state: State,
  name: string,
  people: People,
  told: string = name,
): string | undefined {
  const listed = listedNames(item, state)
  const person = personOf(told, people)
  if (item.approvers.length === 0) {
    if (people.default_group === undefined) return 'anyone_allowed'
    if (isIn(people.default_group, person, people)) return `default_group:${people.default_group}`
  }
  const meant = listed.find((other) => meantBy(other, people)?.some((one) => personOf(one, people) === person))
  if (meant !== undefined) return `people:${meant.slice('user:'.length)}`
  // Where the settings say who is meant by a name, whoever merely has it is not.
  const named = listed.filter((other) => meantBy(other, people) === undefined)
  if (named.includes(name)) return 'approvers'
  const alias = named.find((other) => !other.startsWith(GROUP) && personOf(other, people) === person)
  if (alias !== undefined) return `alias:${alias}`
  return named.find((other) => other.startsWith(GROUP) && isIn(other.slice(GROUP.length), person, people))
}

const GROUP = 'group:'

/** The approvers, and once it was escalated those besides. */
export function listedNames({ approvers, escalate }: Question, { escalated }: State): readonly string[] {
  return escalated === true ? [...approvers, ...(escalate?.to ?? [])] : approvers
}

/** A group that is not there any more is nobody. */
function isIn(group: string, person: string, people: People): boolean {
  const members = Object.hasOwn(people.groups, group) ? people.groups[group] : undefined
  return members?.some((member) => personOf(member, people) === person) === true
}

/** Hash of who may decide and how many have to, with the groups as they are now. */
export function policyHash(item: Question, state: State, people: People): string {
  const approvers = listedNames(item, state)
  const asked = approvers.flatMap((name) => (name.startsWith(GROUP) ? [name.slice(GROUP.length)] : []))
  const byDefault = item.approvers.length === 0 ? people.default_group : undefined
  const groups = [...asked, ...(byDefault === undefined ? [] : [byDefault])].map((name) => [
    name,
    (Object.hasOwn(people.groups, name) ? people.groups[name] : undefined) ?? [],
  ])
  const names = approvers.flatMap((name) => {
    const meant = meantBy(name, people)
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
