import type { Json } from '../canonical.ts'
import type { ApprovalPolicy } from './dag.ts'
import { type Reading, readSection } from './read-section.ts'
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
    self_approval: self_approval ?? true,
    timeout_sec: timeout_sec ?? 1_800,
    on_timeout: on_timeout ?? 'reject',
  }
}

const KINDS = ['user', 'group', 'slack', 'iam', 'token']

/** The compatibility key names a person without saying how they sign in. */
function withKind(approver: string): string {
  return approver.includes(':') ? approver : `user:${approver}`
}

function readApprover({ problems }: Reading, approver: string, path: Path): string {
  const colon = approver.indexOf(':')
  if (KINDS.includes(approver.slice(0, Math.max(0, colon))) && approver.trim().length > colon + 1) return approver
  const say: Problem['say'] = ({ place }) => ({
    text: `${place} is ${quoted(approver)}, which names nobody; allowed are ${KINDS.map((kind) => `${kind}:NAME`).join(', ')}`,
    hint: colon < 0 ? `Did you mean ${quoted(`user:${approver}`)}?` : undefined,
  })
  problems.push({ code: 'invalid_value', path, say })
  return approver
}
