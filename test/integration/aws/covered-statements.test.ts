import { PolicyStatement } from 'aws-cdk-lib/aws-iam'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { withoutCovered } from '../../../infra/aws/covered-statements.ts'
import { allows, type Statement } from '../../aws/iam-policy.ts'

const TABLE = 'arn:aws:dynamodb:eu-central-1:123456789012:table/sluice'
const KEYS = ['T#a', 'T#a#R#1', 'T#a#G', 'T#a#G#x', 'T#b', 'T#b#R#1', 'TOKENS'] as const
const PATTERNS = [...KEYS, 'T#a#*', 'T#a#G#*', 'T#b#*', 'T#*', '*']
const ACTIONS = ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:DeleteItem']
const RESOURCES = [TABLE, `${TABLE}/index/RunsByTime`]

const condition = (operator: string) => (keys: string[]) => ({
  [`ForAllValues:${operator}`]: { 'dynamodb:LeadingKeys': keys },
})
const someOf = (values: readonly string[]) => fc.uniqueArray(fc.constantFrom(...values), { minLength: 1, maxLength: 3 })
const statement = fc
  .record({
    actions: someOf(ACTIONS),
    resources: someOf(RESOURCES),
    conditions: fc.oneof(
      fc.constant({}),
      someOf(KEYS).map(condition('StringEquals')),
      someOf(PATTERNS).map(condition('StringLike')),
    ),
  })
  .map((given) => new PolicyStatement(given))

const jsonOf = (made: PolicyStatement): Statement => made.toStatementJson()
const items = (action: string, ...keys: string[]) =>
  new PolicyStatement({ actions: [action], resources: [TABLE], conditions: condition('StringLike')(keys) })

test('whatever is left out, the same is allowed as before, item for item', () => {
  const wishes = ACTIONS.flatMap((action) =>
    RESOURCES.flatMap((resource) => KEYS.map((key) => ({ action, resource, leadingKeys: [key] }))),
  )
  fc.assert(
    fc.property(fc.array(statement, { maxLength: 6 }), (statements) => {
      const left = withoutCovered(statements).filter((one) => one !== undefined)
      const allowedBy = (all: readonly PolicyStatement[]) =>
        wishes.filter((wish) => all.some((one) => allows(jsonOf(one), wish)))
      expect(allowedBy(left)).toEqual(allowedBy(statements))
    }),
  )
})

test('what another says, or says of more, is left out, and of two that say the same the first stays', () => {
  const [all, graph, again] = [
    items('dynamodb:GetItem', 'T#a', 'T#a#*'),
    items('dynamodb:GetItem', 'T#a#G', 'T#a#G#*'),
    items('dynamodb:GetItem', 'T#a', 'T#a#*'),
  ]
  expect(withoutCovered([graph, all, again])).toEqual([undefined, all, undefined])
})

test('what another action, tenant or condition is about stays', () => {
  const only = new PolicyStatement({
    actions: ['iam:PassRole'],
    resources: [TABLE],
    conditions: { StringEquals: { 'iam:PassedToService': 'states.amazonaws.com' } },
  })
  const other = new PolicyStatement({
    actions: ['iam:PassRole'],
    resources: [TABLE],
    conditions: { StringEquals: { 'iam:PassedToService': 'lambda.amazonaws.com' } },
  })
  const statements = [
    items('dynamodb:GetItem', 'T#a#*'),
    items('dynamodb:GetItem', 'T#b#*'),
    items('dynamodb:DeleteItem', 'T#a#G'),
    only,
    other,
  ]
  expect(withoutCovered(statements)).toEqual(statements)
})
