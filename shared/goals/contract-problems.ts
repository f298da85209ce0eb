import type { Json } from '../canonical.ts'
import { issueProblems } from '../dag/issue-problems.ts'
import type { Problem } from '../dag/report.ts'
import type { Path } from '../dag/source.ts'
import { didYouMean, suggest } from '../dag/suggest.ts'
import { listed, quoted, shown } from '../dag/wording.ts'
import { CRITERION_KINDS, criterionKind } from './criteria/registry.ts'
import { ContractHeadSchema } from './goal-contract.ts'

/** Everything wrong with a goal contract, at the paths of the document it stands in; `base` is its own. */
export function contractProblems(value: Json | undefined, base: Path): readonly Problem[] {
  const head = ContractHeadSchema.safeParse(value)
  const problems = (head.error?.issues ?? []).flatMap((issue) => issueProblems(issue, base, value, ContractHeadSchema))
  const criteria = criteriaOf(value)
  const place = (index: number) => [...base, 'acceptance_criteria', index]
  return [
    ...problems,
    ...criteria.flatMap((criterion, index) => criterionProblems(criterion, place(index))),
    ...criteria.flatMap((criterion, index) => twice(criteria, criterion, index, place(index))),
  ]
}

/** The list of criteria, however wrong the rest is. */
export function criteriaOf(contract: unknown): readonly Json[] {
  const list = memberOf(contract, 'acceptance_criteria')
  return Array.isArray(list) ? list : []
}

/** An own member of a mapping. */
export function memberOf(value: unknown, key: string): Json | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, key))
    return undefined
  // Checked above: a mapping with this own key.
  return (value as Readonly<Record<string, Json>>)[key]
}

function criterionProblems(criterion: Json, path: Path): readonly Problem[] {
  if (typeof criterion !== 'object' || criterion === null || Array.isArray(criterion)) {
    return [
      {
        code: 'wrong_type',
        path,
        say: ({ place }) => ({ text: `${place} must be a mapping, got ${shown(criterion)}` }),
      },
    ]
  }
  const name = memberOf(criterion, 'kind')
  const kind = criterionKind(name)
  if (kind === undefined) return [unknownKind(name, [...path, 'kind'])]
  const { error } = kind.schema.safeParse(criterion)
  return (error?.issues ?? []).flatMap((issue) => issueProblems(issue, path, criterion, kind.schema))
}

function unknownKind(name: Json | undefined, path: Path): Problem {
  const known = CRITERION_KINDS.map(({ kind }) => kind)
  const near = typeof name === 'string' ? suggest(name, known) : undefined
  const text = `is ${shown(name)}; allowed are ${listed(known)}`
  const code = name === undefined ? 'missing_key' : 'unknown_criterion_kind'
  return { code, path, say: ({ place }) => ({ text: `${place} ${text}`, hint: didYouMean(near) }) }
}

function twice(criteria: readonly Json[], criterion: Json, index: number, path: Path): readonly Problem[] {
  const id = memberOf(criterion, 'id')
  if (typeof id !== 'string') return []
  const first = criteria.findIndex((one) => memberOf(one, 'id') === id)
  if (first === index) return []
  const text = `has the id ${quoted(id)}, which acceptance_criteria[${first}] has already`
  return [{ code: 'duplicate_id', path: [...path, 'id'], say: ({ who }) => ({ text: `${who} ${text}` }) }]
}
