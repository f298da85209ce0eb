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
  policy: Pick<ApprovalPolicy, 'approvers' | 'escalate'> & Partial<Pick<ApprovalPolicy, 'quorum' | 'self_approval'>>,
  path: Path,
  place: Routing,
): readonly DagWarning[] {
  const { approvers, escalate } = policy
  const all = [...new Set([...approvers, ...(escalate?.to ?? [])])]
  const named = all.flatMap((name): readonly DagWarning[] => {
    const why = whyNobody(name, place)
    if (why === undefined) return []
    const isUser = name.startsWith('user:')
    const meant = isUser ? ` or say who it is in sluice.yaml: people: { ${name.slice(USER)}: ["user:NAME"] },` : ''
    const message = `Nobody can be approver ${quoted(name)} here: ${why}. Name somebody who can,${meant} else the question waits until it expires.`
    return [{ code: 'approver_unreachable', path: pathText(path), message }]
  })
  return [...named, ...defaultGroup(all, path, place), ...tooFewPeople(policy, path, place)]
}

/** Who decides where a document names nobody may be nobody too. */
function defaultGroup(named: readonly string[], path: Path, place: Routing): readonly DagWarning[] {
  const group = place.approvals?.default_group
  const why = named.length > 0 || group === undefined ? undefined : whyNobody(`${GROUP}${group}`, place)
  if (why === undefined) return []
  const message = `Nobody can decide here: no approver is named, so it is the default group ${quoted(group ?? '')} of sluice.yaml, and ${why}. Name somebody who can, or put them into the group, else the question waits until it expires.`
  return [{ code: 'approver_unreachable', path: pathText(path), message }]
}

/** A place of one machine without a login, and without Slack, has one person. */
function tooFewPeople(
  { quorum = 1, self_approval = true }: Parameters<typeof unreachableApprovers>[0],
  path: Path,
  place: Routing,
): readonly DagWarning[] {
  if (modeOf(place) !== 'local' || place.slack !== undefined) return []
  const me = quoted(place.local_person ?? '')
  const told = (key: string, what: string) => ({
    code: 'approver_unreachable',
    path: pathText([...path, key]),
    message: `This place has no login, so whoever comes is ${me}, and ${what}. Start it with tokens (auth in sluice.yaml) or with Slack, else the question waits until it expires.`,
  })
  return [
    ...(quorum > 1 ? [told('quorum', `one person is no quorum of ${quorum}`)] : []),
    ...(self_approval ? [] : [told('self_approval', 'who started the run may not decide')]),
  ]
}

const USER = 'user:'.length
const GROUP = 'group:'
/** Whom documents of OpenSkelo ask. */
const OWNER = 'user:owner'

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
    const isOwner = name === OWNER && meantBy(name, { names: place.people }) === undefined
    if (isOwner && mode !== 'local' && mode !== 'unknown')
      return 'it is a name documents have for somebody, and people of sluice.yaml does not say who that is'
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
