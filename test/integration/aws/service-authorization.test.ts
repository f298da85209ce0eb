import { describe, expect, test } from 'vitest'
import { type Access, readAccesses } from './accesses.ts'
import { assembled } from './assembled.ts'
import { AUTHORIZED } from './service-authorization.ts'
import { VARIANTS } from './variants.ts'

/** Its logs are its own groups', which AWS makes and names; AWS asks for this role of an account as it stands. */
const OF_ALL = new Set(['(API Gateway) logs'])

/** What a statement says that the reference does not: IAM takes it, and by it nothing is allowed. */
function unauthorized({ who, policy, actions, resources, condition }: Access): readonly string[] {
  const conditions: Readonly<Record<string, object>> = condition === '' ? {} : JSON.parse(condition)
  const keys = Object.values(conditions).flatMap((one) => Object.keys(one))
  return actions.flatMap((action) => {
    const where = `${who} ${policy} ${action}`
    const known = AUTHORIZED.get(action)
    if (known === undefined) return [`${where}: no such action in the table`]
    const kinds = known.resources.length === 0 || OF_ALL.has(`${who} ${policy}`) ? [/^\*$/] : known.resources
    const named = resources.map((resource) => resource.replace(/^arn:aws:([\w-]+):[^:]*:[^:]*:/, '$1:'))
    const others = named.filter((resource) => !kinds.some((kind) => kind.test(resource)))
    return [
      ...others.map((resource) => `${where}: not on ${resource}`),
      ...keys.filter((key) => !known.keys.includes(key)).map((key) => `${where}: no condition on ${key}`),
    ]
  })
}

describe.each(Object.keys(VARIANTS))('the roles of a stage %s', (name) => {
  test('name for each action kinds of resource and keys of conditions that it has', async () => {
    const accesses = readAccesses(await (VARIANTS[name] ?? assembled)())
    expect(accesses.length).toBeGreaterThan(100)
    expect([...new Set(accesses.flatMap(unauthorized))]).toEqual([])
  })

  // AWS's guide says of the key that it is the partition key of a table; of an index it says nothing. Where IAM has no such
  // key in a request, `ForAllValues` lets it pass: nothing breaks then, and nothing is kept apart by it.
  test('look at partitions of an index only so that a request passes which tells none', async () => {
    const ofIndexes = readAccesses(await (VARIANTS[name] ?? assembled)()).filter(
      ({ resources, condition }) => condition !== '' && resources.some((one) => one.includes('/index/')),
    )
    expect(ofIndexes.filter(({ policy }) => policy !== 'graph.list' && policy !== 'index.publish')).toEqual([])
    expect(ofIndexes).not.toEqual([])
    for (const { actions, resources, condition } of ofIndexes) {
      expect(actions).toEqual(['dynamodb:Query'])
      expect(resources).toHaveLength(1)
      expect(Object.keys(JSON.parse(condition))).toEqual(['ForAllValues:StringLike'])
    }
  })
})

const STATEMENT: Access = {
  who: 'get-run',
  policy: 'runs.get',
  actions: ['dynamodb:GetItem'],
  resources: ['dynamodb:table/sluice-dev'],
  condition: '',
}

test.each<[string, Partial<Access>, string]>([
  [
    'an item is no thing of an index',
    { resources: ['dynamodb:table/t/index/runs'] },
    'not on dynamodb:table/t/index/runs',
  ],
  ['everything is no table', { resources: ['*'] }, 'not on *'],
  ['a bucket is no object', { actions: ['s3:GetObject'], resources: ['s3:::b'] }, 'not on s3:::b'],
  [
    'an execution is started on a machine',
    { actions: ['states:StartExecution'], resources: ['states:execution:m:r'] },
    'not on states:execution:m:r',
  ],
  [
    'a key of another action',
    { condition: '{"StringEquals":{"iam:PassedToService":"x"}}' },
    'no condition on iam:PassedToService',
  ],
  ['a name nobody knows', { actions: ['dynamodb:GetItems'] }, 'no such action in the table'],
])('a planted mistake is told: %s', (_, wrong, told) => {
  expect(unauthorized(STATEMENT)).toEqual([])
  expect(unauthorized({ ...STATEMENT, ...wrong })).toEqual([expect.stringContaining(told)])
})
