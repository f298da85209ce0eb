import { meantBy } from '../runs/people.ts'
import type { Routing } from '../settings.ts'
import type { ApprovalPolicy } from './dag.ts'
import { type Path, pathText } from './source.ts'
import type { DagWarning } from './warnings.ts'
import { quoted } from './wording.ts'

/**
 * Approvers that nobody can come as in the place whose settings these are: its question would wait for them until it
 * expires. Where it is not known how callers prove who they are, only what no place has is told.
 */
export function unreachableApprovers(
  { approvers, escalate }: Pick<ApprovalPolicy, 'approvers' | 'escalate'>,
  path: Path,
  place: Routing,
): readonly DagWarning[] {
  const all = [...new Set([...approvers, ...(escalate?.to ?? [])])]
  return all.flatMap((name) => {
    const why = whyNobody(name, place)
    if (why === undefined) return []
    const isUser = name.startsWith('user:')
    const meant = isUser ? ` or say who it is in sluice.yaml: people: { ${name.slice(USER)}: ["user:NAME"] },` : ''
    const message = `Nobody can be approver ${quoted(name)} here: ${why}. Name somebody who can,${meant} else the question waits until it expires.`
    return [{ code: 'approver_unreachable', path: pathText(path), message }]
  })
}

const USER = 'user:'.length
const GROUP = 'group:'

function whyNobody(name: string, place: Routing): string | undefined {
  const members = name.startsWith(GROUP)
    ? membersOf(name.slice(GROUP.length), place)
    : (meantBy(name, { names: place.people }) ?? [name])
  if (members === undefined) return undefined
  if (members.length === 0) return 'the group is empty'
  const reasons = members.map((member) => whyNot(member, place))
  return reasons.every((reason) => reason !== undefined) ? reasons[0] : undefined
}

/** A group the place does not have is an error of its own. */
function membersOf(group: string, { approvals }: Routing): readonly string[] | undefined {
  const groups = approvals?.groups ?? {}
  return Object.hasOwn(groups, group) ? groups[group] : undefined
}

function whyNot(person: string, place: Routing): string | undefined {
  const kind = KINDS.find((known) => person.startsWith(`${known}:`))
  if (kind === undefined || (kind !== 'slack' && isInSlack(person, place))) return undefined
  return WHY[kind](person, place)
}

const KINDS = ['user', 'slack', 'iam', 'token'] as const
type Kind = (typeof KINDS)[number]

function isInSlack(name: string, { slack }: Routing): boolean {
  return Object.values(slack?.users ?? {}).includes(name)
}

type Mode = 'local' | 'iam' | 'token' | 'jwt' | 'unknown'

function modeOf({ auth, iam_people, local_person }: Routing): Mode {
  if (auth !== undefined) return auth.mode
  if (iam_people !== undefined) return 'iam'
  return local_person === undefined ? 'unknown' : 'local'
}

const WHY: Readonly<Record<Kind, (name: string, place: Routing) => string | undefined>> = {
  user(name, place) {
    const mode = modeOf(place)
    if (mode === 'local' && name !== place.local_person) {
      return `this place has no login, so whoever comes is ${quoted(place.local_person ?? '')}`
    }
    const isNobody = mode === 'iam' && place.iam_people?.length === 0
    return isNobody ? 'its callers are roles of IAM, of which none is said to be named after persons' : undefined
  },
  slack: (_name, place) =>
    place.slack === undefined && modeOf(place) !== 'unknown' ? 'Slack is not set up' : undefined,
  iam: (_name, place) => (isOneOf(place, ['local', 'token', 'jwt']) ? 'nobody comes by IAM' : undefined),
  token: (_name, place) => (isOneOf(place, ['local', 'iam', 'jwt']) ? 'nobody comes with a token' : undefined),
}

function isOneOf(place: Routing, modes: readonly Mode[]): boolean {
  return modes.includes(modeOf(place))
}
