import { PolicyStatement } from 'aws-cdk-lib/aws-iam'

/**
 * What statements of one role allow, said once: an action on a resource is left out where another statement allows it for all
 * items that this one is about. The role may do what it might before, in fewer characters, which IAM limits.
 */
export function withoutCovered(statements: readonly PolicyStatement[]): readonly (PolicyStatement | undefined)[] {
  return statements.map((statement, i) => {
    const left = statement.actions.filter(
      (action) =>
        !statements.some(
          (other, j) =>
            i !== j &&
            other.actions.includes(action) &&
            covers(other, statement) &&
            // Of two that say the same the first stays.
            (j < i || !covers(statement, other)),
        ),
    )
    if (left.length === statement.actions.length) return statement
    if (left.length === 0) return undefined
    return new PolicyStatement({ actions: left, resources: statement.resources, conditions: conditionsOf(statement) })
  })
}

/** Whatever the second is about, the first is about too; of their actions nothing is said. */
function covers(wide: PolicyStatement, narrow: PolicyStatement): boolean {
  if (!allows(wide) || !allows(narrow)) return false
  if (!narrow.resources.every((resource) => wide.resources.includes(resource))) return false
  const [of, within] = [conditionsOf(wide), conditionsOf(narrow)]
  if (Object.keys(of).length === 0 || JSON.stringify(of) === JSON.stringify(within)) return true
  const [patterns, keys] = [partitionsOf(of), partitionsOf(within)]
  if (patterns === undefined || keys === undefined) return false
  return keys.every((key) => patterns.some((pattern) => isWithin(key, pattern)))
}

const allows = (statement: PolicyStatement) => statement.notActions.length + statement.notResources.length === 0

type Conditions = Readonly<Record<string, Readonly<Record<string, unknown>>>>

// The shape IAM documents; the library gives it as anything.
const conditionsOf = (statement: PolicyStatement): Conditions => statement.conditions

/** Partitions of the table, a `*` at their end being any more; undefined where the conditions are about anything else. */
function partitionsOf(conditions: Conditions): readonly string[] | undefined {
  const [[operator, about] = [], ...more] = Object.entries(conditions)
  if (operator === undefined || about === undefined || more.length > 0) return undefined
  const { 'dynamodb:LeadingKeys': keys, ...others } = about
  const listed = typeof keys === 'string' ? [keys] : keys
  if (!isTexts(listed) || Object.keys(others).length > 0) return undefined
  // Exact ones are compared as they stand: a `*` in one would be a letter of it.
  if (operator === 'ForAllValues:StringEquals') return listed.some((key) => /[*?]/.test(key)) ? undefined : listed
  return operator === 'ForAllValues:StringLike' && listed.every((key) => /^[^*?]*\*?$/.test(key)) ? listed : undefined
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}

const isWithin = (key: string, pattern: string) =>
  pattern.endsWith('*') ? key.startsWith(pattern.slice(0, -1)) : key === pattern
