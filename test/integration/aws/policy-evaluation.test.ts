import { describe, expect, test } from 'vitest'
import { type Policies, readPolicies, type Statement, type Wish } from '../../aws/iam-policy.ts'
import { callsAllowed, known, strange, words } from '../../aws/recorded-calls.ts'
import { readTemplates } from '../../aws/template.ts'
import { stacksIn } from './assembly.ts'
import { VARIANTS } from './variants.ts'

/** The reader of policies judges as IAM's guide says, so that what it allows means something. */
const TABLE = 'arn:aws:dynamodb:eu-central-1:111122223333:table/t'
const GET = { action: 'dynamodb:GetItem', resource: TABLE }

function of(...statements: readonly Partial<Statement>[]): Policies {
  const Statement = statements.map((one) => ({ Effect: 'Allow', Action: 'dynamodb:*', Resource: '*', ...one }))
  const role = { RoleName: 'r', Policies: [{ PolicyName: 'p', PolicyDocument: { Statement } }] }
  const roles = [{ id: 'R', type: 'AWS::IAM::Role', properties: role }]
  return readPolicies({ all: (type) => (type === 'AWS::IAM::Role' ? roles : []), asset: (key) => key })
}

const isAllowed = (policies: Policies, wish: Wish = GET) => policies.grants('r', wish).length > 0
const keys = (...leadingKeys: readonly string[]): Wish => ({ ...GET, leadingKeys })
const when = (operator: string, ...values: readonly string[]) => ({
  Condition: { [operator]: { 'dynamodb:LeadingKeys': values } },
})

test('nothing is allowed that no statement allows, and one Deny is stronger than all that do', () => {
  expect(isAllowed(of())).toBe(false)
  expect(isAllowed(of({}))).toBe(true)
  expect(isAllowed(of({ Action: 's3:*' }))).toBe(false)
  expect(isAllowed(of({}, { Effect: 'Deny' }))).toBe(false)
  expect(isAllowed(of({}, { Effect: 'Deny', Action: 'dynamodb:Put*' }))).toBe(true)
  expect(isAllowed(of({}, { Effect: 'Deny', ...when('StringEquals', 'x') }), keys('x'))).toBe(false)
  expect(isAllowed(of({}, { Effect: 'Deny', ...when('StringEquals', 'x') }), keys('y'))).toBe(true)
  // What is denied is no right either.
  expect(of({}, { Effect: 'Deny' }).all).toHaveLength(1)
})

test.each<[string, Wish, boolean]>([
  ['StringEquals', keys('a'), true],
  ['StringEquals', keys('b'), false],
  ['StringEquals', GET, false],
  ['StringEqualsIfExists', GET, true],
  ['StringNotEquals', keys('a'), false],
  ['StringNotEquals', GET, true],
  ['StringLike', keys('ab'), false],
  ['ForAllValues:StringEquals', keys('a', 'b'), false],
  ['ForAllValues:StringEquals', keys('a', 'a'), true],
  ['ForAllValues:StringEquals', GET, true],
  ['ForAnyValue:StringEquals', keys('a', 'b'), true],
  ['ForAnyValue:StringEquals', GET, false],
])('%s of "a" for %j is %s', (operator, wish, expected) => {
  expect(isAllowed(of(when(operator, 'a')), wish)).toBe(expected)
})

test('an operator it does not know is no condition that holds', () => {
  expect(() => isAllowed(of(when('DateLessThan', '2026')), keys('a'))).toThrow('the operator DateLessThan')
})

test('what is asked of an index is allowed only whether or not AWS tells its leading keys there', () => {
  const asked = { action: 'dynamodb:Query', resource: `${TABLE}/index/i`, leadingKeys: ['T#a'] }
  expect(isAllowed(of(when('ForAllValues:StringLike', 'T#*')), asked)).toBe(true)
  expect(isAllowed(of(when('StringLike', 'T#*')), asked)).toBe(false)
  expect(isAllowed(of(when('ForAllValues:StringLike', 'S#*')), asked)).toBe(false)
})

async function policiesOf(variant: string): Promise<Policies> {
  const { out } = (await VARIANTS[variant]?.()) ?? { out: '' }
  return readPolicies(readTemplates(out, stacksIn(out)))
}

describe.each(Object.keys(VARIANTS))('a stage %s', { timeout: 400_000 }, (variant) => {
  test('may do what the stage as it is may, and none of it where items or stage are another’s', async () => {
    const policies = await policiesOf(variant)
    const calls = known(policies, callsAllowed(await policiesOf('as it is')))
    expect(calls.length).toBeGreaterThan(500)
    expect(calls.filter(({ who, wish }) => policies.grants(who, wish).length === 0).map(words)).toEqual([])
    const strangers = calls.flatMap((call) => strange(call.wish).map((wish) => ({ ...call, wish })))
    expect(strangers.length).toBeGreaterThan(500)
    expect(strangers.filter(({ who, wish }) => policies.grants(who, wish).length > 0).map(words)).toEqual([])
  })
})

describe('a stage in a network', { timeout: 400_000 }, () => {
  test('has Lambda join it for a function, and not the code of that function', async () => {
    const policies = await policiesOf('in a network, closed')
    const joins = { action: 'ec2:CreateNetworkInterface', resource: '*' }
    expect(policies.grants('sluice-dev-run-block', joins)).toEqual([])
    expect(policies.grants('sluice-dev-run-block', { ...joins, byCodeOf: undefined })).toHaveLength(1)
  })
})
