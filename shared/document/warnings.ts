import type { ApprovalPolicy, Block, Dag, GateUse } from '../dag/dag.ts'
import { egressProblem, isStraight } from '../egress/hosts.ts'
import { leafChecks } from '../gates/check-composition.ts'
import { shellRefusal } from '../gates/gate-ports.ts'
import { hostListProblem } from '../gates/hosts.ts'
import { modelPriceAt } from '../providers/model-prices.ts'
import { blockCaps, runCaps } from '../runs/caps.ts'
import { peopleMeantBy } from '../runs/people.ts'
import { SafetySchema } from '../runs/safety-settings.ts'
import { type Path, pathText } from '../text/source-position.ts'
import { listed, quoted } from '../text/wording.ts'
import type { Routing } from './bind-agents.ts'
import { findAgent } from './bind-agents.ts'

/** Something a valid document will suffer from when it runs. */
export interface DagWarning {
  readonly code: string
  /** `blocks[1].post_gates[0].check`. */
  readonly path: string
  readonly message: string
}

type Place = Pick<Routing, 'shell_gates' | 'http_gates' | 'egress'>

/**
 * Warnings of a document that is valid; none of them keeps it from being started. Those of a place are told where its
 * settings are known.
 */
export function dagWarnings({ blocks }: Dag, place: Place = {}): readonly DagWarning[] {
  return blocks.flatMap(({ id, index, pre_gates, post_gates, foreach }) => [
    ...deadGates(pre_gates, `blocks[${index}].pre_gates`, id, place),
    ...deadGates(post_gates, `blocks[${index}].post_gates`, id, place),
    ...deadGates(foreach?.item_gates ?? [], `blocks[${index}].foreach.item_gates`, id, place),
  ])
}

/** Commands that this place does not run and hosts it does not ask: their verdict never passes. */
function deadGates(gates: readonly GateUse[], path: string, block: string, place: Place): readonly DagWarning[] {
  return gates.flatMap(({ name, check }, at) => {
    const refusals = leafChecks(check).flatMap((leaf) => refusalOf(leaf, place))
    return [...new Set(refusals)].map((refusal) => {
      const message = `Gate "${name}" of block "${block}" will never pass: ${refusal}.`
      return { code: 'gate_cannot_run', path: `${path}[${at}].check`, message }
    })
  })
}

function refusalOf({ type, command, url }: GateUse['check'], place: Place): readonly string[] {
  const { shell_gates, http_gates } = place
  if (type === 'shell' && shell_gates !== undefined) {
    // parseCheck() left the words; nothing else is a parsed check.
    const argv = Array.isArray(command) ? command.map(String) : []
    return [shellRefusal(shell_gates, argv) ?? []].flat()
  }
  if (!ASKING.has(type) || http_gates === undefined || typeof url !== 'string') return []
  const host = URL.parse(url)?.hostname
  return host === undefined ? [] : [hostListProblem(host, http_gates) ?? egressRefusal(host, place) ?? []].flat()
}

/** Nobody here asks a host that is not listed, and a proxy is handed only what some list names (docs/adr/0108). */
function egressRefusal(host: string, { http_gates, egress }: Place): string | undefined {
  if (egress === undefined) return undefined
  const { proxy, no_proxy, hosts } = egress
  const problem = egressProblem(host, egress)
  if (problem !== undefined) {
    const allowed = hosts?.length === 0 ? 'which is empty' : `which has ${listed(hosts ?? [])}`
    return `${problem}, ${allowed}. Add the host there, or let the gate ask one of these`
  }
  const isNamed = hosts !== undefined || http_gates?.hosts !== undefined
  // Whether the environment has a proxy is known where the place is.
  if (isNamed || proxy === undefined || proxy === 'environment' || isStraight(host, no_proxy)) return undefined
  return `host ${host} would be looked up by the proxy, which is handed only hosts that are named. Name it in egress.hosts or http_gates.hosts of sluice.yaml`
}

const ASKING: ReadonlySet<string> = new Set(['http', 'webhook'])

/** Of a place that says nowhere where it is: others do not reach what this document hands them. */
export function addressWarnings({ blocks }: Dag, { public_url }: Routing): readonly DagWarning[] {
  if (public_url !== undefined) return []
  return blocks.flatMap(({ id, index, ...block }) => {
    if (block.mode !== 'wait' || block.wait.kind !== 'callback') return []
    const message = `Block "${id}" waits for a callback, and the settings have no public_url: only this machine reaches its address, and a deployment refuses it.`
    return [{ code: 'callback_only_here', path: `blocks[${index}].wait.callback`, message }]
  })
}

/** Calls that a cap in dollars will refuse, since nobody knows what they cost. */
export function priceWarnings(dag: Dag, routing: Routing): readonly DagWarning[] {
  const safety = routing.safety ?? SafetySchema.parse({})
  const inRun = runCaps(safety, dag.budget).cap_usd_micros !== undefined
  return dag.blocks.flatMap((block) => {
    const isCapped = inRun || blockCaps(safety, block.budget).cap_usd_micros !== undefined
    return isCapped ? unpriced(block, routing) : []
  })
}

function unpriced(block: Block, routing: Routing): readonly DagWarning[] {
  if (block.mode !== 'ai') return []
  const { fallback = [] } = block.agent
  const asked = [block.agent, ...fallback].map((one) => findAgent(one, routing))
  const unknown = asked.map((one) => one.ok && modelPriceAt(routing, one.provider, one.model) === undefined)
  // Whoever has a price is asked in its place.
  const outcome = unknown.includes(false) ? 'will not ask one of its models' : 'will fail'
  return asked.flatMap((found, index) => {
    if (!found.ok || unknown[index] !== true) return []
    const message = `Block "${block.id}" ${outcome}: a cap in dollars holds, and what model "${found.model}" of provider "${found.provider}" costs is not known. Use caps in tokens, a model with a known price, or say its price under prices in the settings.`
    const at = `blocks[${block.index}].agent${index === 0 ? '' : `.fallback[${index - 1}]`}`
    return [{ code: 'budget_price_unknown', path: at, message }]
  })
}

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
    const meant = isUser
      ? ` or say who it is in sluice.yaml: people: { ${name.slice(USER_PREFIX_LENGTH)}: ["user:NAME"] },`
      : ''
    const message = `Nobody can be approver ${quoted(name)} here: ${why}. Name somebody who can,${meant} else the question waits until it expires.`
    return [{ code: 'approver_unreachable', path: pathText(path), message }]
  })
  return [...named, ...defaultGroup(all, path, place), ...tooFewPeople(policy, path, place)]
}

/** Who decides where a document names nobody may be nobody too. */
function defaultGroup(named: readonly string[], path: Path, place: Routing): readonly DagWarning[] {
  const group = place.approvals?.default_group
  const why = named.length > 0 || group === undefined ? undefined : whyNobody(`${GROUP_PREFIX}${group}`, place)
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

const USER_PREFIX_LENGTH = 'user:'.length
const GROUP_PREFIX = 'group:'
/** Whom documents of OpenSkelo ask. */
const OWNER = 'user:owner'

function whyNobody(name: string, place: Routing): string | undefined {
  const members = name.startsWith(GROUP_PREFIX)
    ? membersOf(name.slice(GROUP_PREFIX.length), place)
    : (peopleMeantBy(name, { names: place.people }) ?? [name])
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
  const kind = APPROVER_KINDS.find((known) => person.startsWith(`${known}:`))
  if (kind === undefined || (kind !== 'slack' && isInSlack(person, place))) return undefined
  return WHY_NOBODY[kind](person, place)
}

const APPROVER_KINDS = ['user', 'slack', 'iam', 'token'] as const
type ApproverKind = (typeof APPROVER_KINDS)[number]

function isInSlack(name: string, { slack }: Routing): boolean {
  return Object.values(slack?.users ?? {}).includes(name)
}

type Mode = 'local' | 'iam' | 'token' | 'jwt' | 'unknown'

function modeOf({ auth, iam_people, local_person }: Routing): Mode {
  if (auth !== undefined) return auth.mode
  if (iam_people !== undefined) return 'iam'
  return local_person === undefined ? 'unknown' : 'local'
}

const WHY_NOBODY: Readonly<Record<ApproverKind, (name: string, place: Routing) => string | undefined>> = {
  user(name, place) {
    const mode = modeOf(place)
    if (mode === 'local' && name !== place.local_person) {
      return `this place has no login, so whoever comes is ${quoted(place.local_person ?? '')}`
    }
    const isOwner = name === OWNER && peopleMeantBy(name, { names: place.people }) === undefined
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
