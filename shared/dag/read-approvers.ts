import type { Reading } from './reading.ts'
import type { Problem } from './report.ts'
import type { Path } from './source.ts'
import { didYouMean, suggest } from './suggest.ts'
import { listed, quoted } from './wording.ts'

interface Named {
  readonly approvers?: readonly string[] | undefined
  /** The compatibility key. */
  readonly approver?: string | undefined
}

/** Everybody named, once. Where the groups of the place are known, one it does not have is a problem: it is nobody. */
export function readApprovers(
  reading: Reading,
  { approvers = [], approver }: Named,
  path: Path,
  key = 'approvers',
): readonly string[] {
  const listed = approvers.map((who, index) => readApprover(reading, who, [...path, key, index]))
  const one = approver === undefined ? [] : [readApprover(reading, withKind(approver), [...path, 'approver'])]
  return [...new Set([...listed, ...one])]
}

const KINDS = ['user', 'group', 'slack', 'iam', 'token']
const ALLOWED = KINDS.map((kind) => `${kind}:NAME`).join(', ')

/** The compatibility key names a person without saying how they sign in. */
function withKind(approver: string): string {
  return approver.includes(':') ? approver : `user:${approver}`
}

function readApprover({ problems, routing }: Reading, approver: string, path: Path): string {
  const colon = approver.indexOf(':')
  const kind = approver.slice(0, Math.max(0, colon))
  if (KINDS.includes(kind) && approver.trim().length > colon + 1) {
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
