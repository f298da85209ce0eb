import * as z from 'zod'
import type { Problem } from '../text/document-problems.ts'
import type { Json } from '../text/json.ts'
import { issueProblems } from '../text/schema-issues.ts'
import type { Path } from '../text/source-position.ts'
import { describeValue, didYouMean, listed, quoted, suggest } from '../text/wording.ts'
import type { AcceptanceCriterion } from './criteria/criterion.ts'
import { CRITERION_KINDS, criterionKind } from './criteria/registry.ts'

/** Attempts a goal has where its contract does not say. */
export const DEFAULT_MAX_ATTEMPTS = 3

/** What is wanted of a run, as evaluated: versions and defaults filled in. It never changes while the run lives. */
export interface GoalContract {
  readonly version: 1
  readonly goal_text: string
  /** Told to people; it never changes a result. */
  readonly goal_type?: string | undefined
  readonly max_goal_attempts: number
  readonly acceptance_criteria: readonly AcceptanceCriterion[]
}

/** Everything but what is in the criteria, each of which its kind reads. */
export const ContractHeadSchema = z.strictObject({
  version: z.literal(1).default(1),
  goal_text: z.string().regex(/\S/, 'it must not be blank').max(10_000),
  goal_type: z.string().regex(/\S/, 'it must not be blank').max(100).optional(),
  max_goal_attempts: z.int().min(1).default(DEFAULT_MAX_ATTEMPTS),
  acceptance_criteria: z.array(z.unknown()).min(1),
})

/** A value that contractProblems() finds nothing wrong with, with its defaults. */
export function contractWithDefaults(value: unknown): GoalContract {
  const { acceptance_criteria, ...head } = ContractHeadSchema.parse(value)
  return { ...head, acceptance_criteria: acceptance_criteria.map(criterionWithDefaults) }
}

function criterionWithDefaults(value: unknown): AcceptanceCriterion {
  const { kind } = value as AcceptanceCriterion
  // The schema of every kind has `id` and `kind`; its other members are JSON.
  return criterionKind(kind)?.schema.parse(value) as AcceptanceCriterion
}

/** Everything wrong with a goal contract, at the paths of the document it stands in; `base` is its own. */
export function contractProblems(value: Json | undefined, base: Path): readonly Problem[] {
  const head = ContractHeadSchema.safeParse(value)
  const problems = (head.error?.issues ?? []).flatMap((issue) => issueProblems(issue, base, value, ContractHeadSchema))
  const criteria = criteriaOf(value)
  const place = (index: number) => [...base, 'acceptance_criteria', index]
  return [
    ...problems,
    ...criteria.flatMap((criterion, index) => criterionProblems(criterion, place(index))),
    ...criteria.flatMap((criterion, index) => duplicateId(criteria, criterion, index, place(index))),
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
        say: ({ place }) => ({ text: `${place} must be a mapping, got ${describeValue(criterion)}` }),
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
  const text = `is ${describeValue(name)}; allowed are ${listed(known)}`
  const code = name === undefined ? 'missing_key' : 'unknown_criterion_kind'
  return { code, path, say: ({ place }) => ({ text: `${place} ${text}`, hint: didYouMean(near) }) }
}

function duplicateId(criteria: readonly Json[], criterion: Json, index: number, path: Path): readonly Problem[] {
  const id = memberOf(criterion, 'id')
  if (typeof id !== 'string') return []
  const first = criteria.findIndex((one) => memberOf(one, 'id') === id)
  if (first === index) return []
  const text = `has the id ${quoted(id)}, which acceptance_criteria[${first}] has already`
  return [{ code: 'duplicate_id', path: [...path, 'id'], say: ({ who }) => ({ text: `${who} ${text}` }) }]
}
