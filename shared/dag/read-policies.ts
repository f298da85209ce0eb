import type { Json } from '../canonical.ts'
import type { ApprovalPolicy, RetryPolicy } from './dag.ts'
import { isLater } from './not-yet.ts'
import { readSection } from './read-section.ts'
import type { Reading } from './reading.ts'
import type { Problem } from './report.ts'
import { SECTIONS } from './sections.ts'
import type { Path } from './source.ts'
import { quoted } from './wording.ts'

/** `approval: true`, or a mapping (spec approvals). Without a person to ask (`false`, `required: false`): undefined. */
export function readApproval(
  reading: Reading,
  given: Json | undefined,
  path: Path,
  blockName: string,
): ApprovalPolicy | undefined {
  if (given === undefined || given === false) return undefined
  const section = given === true ? {} : readSection(reading, SECTIONS.approval, given, path, 'approval')
  if (section === undefined || section.required === false) return undefined
  const { prompt, show, approvers = [], approver, self_approval, timeout_sec, on_timeout } = section
  const listed = approvers.map((who, index) => readApprover(reading, who, [...path, 'approvers', index]))
  const one = approver === undefined ? [] : [readApprover(reading, withKind(approver), [...path, 'approver'])]
  return {
    prompt: prompt ?? `Approve "${blockName}"?`,
    show: show ?? [],
    approvers: [...new Set([...listed, ...one])],
    quorum: 1,
    self_approval: self_approval ?? true,
    timeout_sec: timeout_sec ?? 1_800,
    on_timeout: on_timeout ?? 'reject',
    edit: [],
    on_reject: 'fail',
    max_iterations: 5,
  }
}

/** Total tries and the delays between them; without `retry` there is one try (decisions, "Block state, exactly"). */
export function readRetry(reading: Reading, given: Json | undefined, path: Path): RetryPolicy {
  const section = given === undefined ? undefined : readSection(reading, SECTIONS.retry, given, path)
  return {
    max_attempts: Math.max(1, section?.max_attempts ?? 1),
    backoff: section?.backoff ?? 'exponential',
    delay_ms: section?.delay_ms ?? 1_000,
    max_delay_ms: section?.max_delay_ms ?? 30_000,
    jitter: section?.jitter ?? 'full',
  }
}

const KINDS = ['user', 'group', 'slack', 'iam', 'token']
const ALLOWED = KINDS.filter((kind) => !isLater('approver', kind, ''))
  .map((kind) => `${kind}:NAME`)
  .join(', ')

/** The compatibility key names a person without saying how they sign in. */
function withKind(approver: string): string {
  return approver.includes(':') ? approver : `user:${approver}`
}

function readApprover({ problems }: Reading, approver: string, path: Path): string {
  const colon = approver.indexOf(':')
  const kind = approver.slice(0, Math.max(0, colon))
  if (isLater('approver', kind, approver)) {
    const say: Problem['say'] = ({ place }) => ({
      text: `${place} is ${quoted(approver)}, and approvers of kind "${kind}:" are not supported yet`,
      hint: 'Name people for now, as in "user:ana".',
    })
    problems.push({ code: 'not_yet_supported', path, say })
    return approver
  }
  if (KINDS.includes(kind) && approver.trim().length > colon + 1) return approver
  const say: Problem['say'] = ({ place }) => ({
    text: `${place} is ${quoted(approver)}, which names nobody; allowed are ${ALLOWED}`,
    hint: colon < 0 ? `Did you mean ${quoted(`user:${approver}`)}?` : undefined,
  })
  problems.push({ code: 'invalid_value', path, say })
  return approver
}
