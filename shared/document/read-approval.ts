import type * as z from 'zod'
import type { ApprovalPolicy } from '../dag/dag.ts'
import { LIMITS } from '../limits.ts'
import type { Problem } from '../text/document-problems.ts'
import type { Json } from '../text/json.ts'
import type { Path } from '../text/source-position.ts'
import { didYouMean, listed, quoted, suggest } from '../text/wording.ts'
import { type Reading, readSection, SECTIONS } from './sections.ts'
import { unreachableApprovers } from './warnings.ts'

/** The block that asks, as far as its approval is concerned. */
interface Asking {
  readonly name: string
  readonly inputs: ReadonlyMap<string, unknown>
}

/**
 * `approval: true`, or a mapping (docs/dag.md, "Approval"). Without a person to ask (`false`, `required: false`):
 * undefined.
 */
export function readApproval(
  reading: Reading,
  given: Json | undefined,
  path: Path,
  { name, inputs }: Asking,
): ApprovalPolicy | undefined {
  if (given === undefined || given === false) return undefined
  const section = given === true ? {} : readSection(reading, SECTIONS.approval, given, path)
  if (section === undefined || section.required === false) return undefined
  const { approvers, approver } = section
  const escalate = readEscalate(reading, section.escalate, [...path, 'escalate'])
  const policy: ApprovalPolicy = {
    ...policyOf(section, name),
    approvers: readApprovers(reading, { approvers, approver }, path),
    ...(escalate === undefined ? {} : { escalate }),
  }
  const wrong = [
    ...timeProblems(policy),
    ...voteProblems(policy),
    ...editProblems(policy, inputs),
    ...personProblems(reading, policy),
  ]
  reading.problems.push(...wrong.map((problem) => ({ ...problem, path: [...path, ...problem.path] })))
  if (reading.routing !== undefined) reading.warnings.push(...unreachableApprovers(policy, path, reading.routing))
  return policy
}

type Section = { readonly [K in keyof typeof SECTIONS.approval.shape]?: z.output<(typeof SECTIONS.approval.shape)[K]> }

/** Who is asked stands beside it. */
function policyOf(section: Section, name: string): Omit<ApprovalPolicy, 'approvers' | 'escalate'> {
  const { quorum = 1, self_approval = true, timeout_sec = 1_800, on_timeout = 'reject', remind_sec } = section
  const { prompt = `Approve "${name}"?`, show = [], edit = [], on_reject = 'fail', max_iterations = 5, reuse } = section
  return {
    prompt,
    show,
    quorum,
    self_approval,
    timeout_sec,
    on_timeout,
    ...(remind_sec === undefined ? {} : { remind_sec }),
    edit: [...new Set(edit)],
    on_reject,
    max_iterations,
    ...(reuse === true ? { reuse } : {}),
  }
}

function readEscalate(reading: Reading, given: Json | undefined, path: Path): ApprovalPolicy['escalate'] {
  const section = given === undefined ? undefined : readSection(reading, SECTIONS.escalate, given, path)
  if (section?.after_sec === undefined || section.to === undefined) return undefined
  return { after_sec: section.after_sec, to: readApprovers(reading, { approvers: section.to }, path, 'to') }
}

/** What comes after the expiry never comes. */
function timeProblems({ timeout_sec, remind_sec, escalate }: ApprovalPolicy): readonly Problem[] {
  const within = (seconds: number | undefined, path: Path): readonly Problem[] => {
    if (seconds === undefined || seconds < timeout_sec) return []
    const text = `is ${seconds}, but nobody is asked any more after timeout_sec, ${timeout_sec}`
    return [invalid(path, text, `Give less than ${timeout_sec}, or a longer timeout_sec.`)]
  }
  const late = [...within(remind_sec, ['remind_sec']), ...within(escalate?.after_sec, ['escalate', 'after_sec'])]
  const times = remind_sec === undefined ? 0 : Math.floor((timeout_sec - 1) / remind_sec)
  if (times <= LIMITS.reminders) return late
  const text = `is ${remind_sec}, which makes ${times} reminders in ${timeout_sec} seconds; the limit is ${LIMITS.reminders}`
  const least = Math.ceil(timeout_sec / (LIMITS.reminders + 1))
  return [...late, { ...invalid(['remind_sec'], text, `Give ${least} or more.`), code: 'limit_exceeded' }]
}

/** A group has whom it has when somebody decides; people who are listed can be counted. */
function voteProblems({ quorum, approvers, escalate, edit }: ApprovalPolicy): readonly Problem[] {
  const wrong: Problem[] = []
  const people = new Set([...approvers, ...(escalate?.to ?? [])])
  const hasGroup = [...people].some((name) => name.startsWith('group:'))
  if (approvers.length > 0 && !hasGroup && people.size < quorum) {
    const text = `is ${quorum}, but ${people.size === 1 ? 'one person is' : `${people.size} people are`} listed`
    wrong.push(invalid(['quorum'], text, 'List more people or a group, or ask for fewer votes.'))
  }
  if (edit.length > 0 && quorum > 1) {
    const text = `names inputs to change, but quorum is ${quorum}: the votes would be for different values`
    wrong.push(invalid(['edit'], text, 'Take "edit" away, or let one person decide.'))
  }
  return wrong
}

/** Where callers are roles that several people may share, and nobody comes by Slack, persons cannot be counted. */
function personProblems({ routing }: Reading, { quorum, self_approval }: ApprovalPolicy): readonly Problem[] {
  const isTold =
    routing?.iam_people === undefined ||
    routing.iam_people.length > 0 ||
    Object.keys(routing.slack?.users ?? {}).length > 0
  if (isTold) return []
  const hint =
    'Name the roles whose sessions are named after persons in sluice:auth, {"mode": "iam", "people": ["AWSReservedSSO_*"]}, or let people decide in Slack who are in slack.users (docs/tokens.md).'
  const why = 'but this deployment cannot tell persons: its callers are roles of IAM'
  return [
    ...(quorum > 1 ? [invalid(['quorum'], `is ${quorum}, ${why}`, hint)] : []),
    ...(self_approval ? [] : [invalid(['self_approval'], `is false, ${why}`, hint)]),
  ].map((problem) => ({ ...problem, code: 'person_unknown' }))
}

function editProblems({ edit }: ApprovalPolicy, inputs: Asking['inputs']): readonly Problem[] {
  const unknown = [...edit.entries()].filter(([, port]) => !inputs.has(port))
  return unknown.map(([index, port]) => {
    const say: Problem['say'] = ({ who }) => ({
      text: `${who} lets its approver edit ${quoted(port)}, but its inputs are ${listed(inputs.keys())}`,
    })
    return { code: 'unknown_input', path: ['edit', index], say }
  })
}

function invalid(path: Path, text: string, hint: string): Problem {
  return { code: 'invalid_value', path, say: ({ place }) => ({ text: `${place} ${text}`, hint }) }
}

interface Named {
  readonly approvers?: readonly string[] | undefined
  /** The compatibility key. */
  readonly approver?: string | undefined
}

/** Everybody named, once. Where the groups of the place are known, one it does not have is a problem: it is nobody. */
function readApprovers(
  reading: Reading,
  { approvers = [], approver }: Named,
  path: Path,
  key = 'approvers',
): readonly string[] {
  const listed = approvers.map((who, index) => readApprover(reading, who, [...path, key, index]))
  const one = approver === undefined ? [] : [readApprover(reading, withKind(approver), [...path, 'approver'])]
  return [...new Set([...listed, ...one])]
}

const APPROVER_KINDS = ['user', 'group', 'slack', 'iam', 'token']
const ALLOWED = APPROVER_KINDS.map((kind) => `${kind}:NAME`).join(', ')

/** The compatibility key names a person without saying how they sign in. */
function withKind(approver: string): string {
  return approver.includes(':') ? approver : `user:${approver}`
}

function readApprover({ problems, routing }: Reading, approver: string, path: Path): string {
  const colon = approver.indexOf(':')
  const kind = approver.slice(0, Math.max(0, colon))
  if (APPROVER_KINDS.includes(kind) && approver.trim().length > colon + 1) {
    const groups = routing?.approvals?.groups
    const name = approver.slice(colon + 1)
    if (kind === 'group' && groups !== undefined && !Object.hasOwn(groups, name)) {
      problems.push(unknownGroup(name, Object.keys(groups), path))
    }
    return approver
  }
  const say: Problem['say'] = ({ place }) => ({
    text: `${place} is ${quoted(approver)}, which names nobody; allowed are ${ALLOWED}`,
    hint: colon < 0 ? `Did you mean ${quoted(`user:${approver}`)}?` : undefined,
  })
  problems.push({ code: 'invalid_value', path, say })
  return approver
}

function unknownGroup(name: string, groups: readonly string[], path: Path): Problem {
  const say: Problem['say'] = ({ place }) => {
    const near = didYouMean(
      suggest(
        `group:${name}`,
        groups.map((group) => `group:${group}`),
      ),
    )
    const hint = near ?? `Add it under approvals.groups in sluice.yaml: ${name.slice(0, 80)}: [user:NAME].`
    return { text: `${place} is ${quoted(`group:${name}`)}, but the groups of sluice.yaml are ${listed(groups)}`, hint }
  }
  return { code: 'unknown_group', path, say }
}
