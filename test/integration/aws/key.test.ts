// @module-tag thorough
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { assembled } from './assembled.ts'
import { type Assembly, textOf } from './assembly.ts'
import { lossesOf, statefulOf } from './stateful.ts'
import { type Synthesized, synthesize } from './synthesized.ts'

/** A stage whose data is under a key of the customer's. */
const KEY = 'arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab'
let made: Synthesized
let plain: Assembly
beforeAll(async () => {
  plain = await assembled()
  made = await synthesize({ 'sluice:key': KEY }, undefined, 'placeholders')
}, 300_000)
afterAll(() => made.remove())

interface Statement {
  readonly Action: string | readonly string[]
  readonly Resource: unknown
  readonly Condition?: { readonly StringEquals?: Readonly<Record<string, unknown>> }
}

interface Role {
  readonly function: string
  readonly statements: readonly Statement[]
}

/** Of each function its role's statements. */
function rolesOf({ all }: Assembly): readonly Role[] {
  const roles = new Map(all('AWS::IAM::Role').map((role) => [role.id, role]))
  return all('AWS::Lambda::Function').map(({ Properties }) => {
    const role = roles.get(/<(\w+)\.Arn>/.exec(textOf(Properties.Role))?.[1] ?? '')
    const policies = role?.Properties.Policies as readonly { PolicyDocument: { Statement: readonly Statement[] } }[]
    const statements = policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
    return { function: textOf(Properties.FunctionName).replace('sluice-dev-', ''), statements }
  })
}

const actionsOf = ({ statements }: Role) => new Set(statements.flatMap(({ Action }) => Action))
const ofKey = ({ statements }: Role) => statements.filter(({ Action }) => [Action].flat()[0]?.startsWith('kms:'))

test('table, bucket of objects, dead letters and every log group are under it; access logs under a key of S3', () => {
  const under = (type: string) => made.all(type).filter(({ Properties }) => JSON.stringify(Properties).includes(KEY))
  expect(under('AWS::DynamoDB::Table').map(({ Properties }) => Properties.SSESpecification)).toEqual([
    { SSEEnabled: true, SSEType: 'KMS', KMSMasterKeyId: KEY },
  ])
  expect(under('AWS::S3::Bucket').map(({ Properties }) => textOf(Properties.BucketName))).toEqual([
    'sluice-dev-<AccountId>-<Region>',
  ])
  const [queue] = made.all('AWS::SQS::Queue')
  expect(queue?.Properties).toMatchObject({ KmsMasterKeyId: KEY })
  expect(queue?.Properties).not.toHaveProperty('SqsManagedSseEnabled')
  expect(under('AWS::Logs::LogGroup')).toHaveLength(made.all('AWS::Logs::LogGroup').length)
})

test('a role may use it only through the service whose data it reads or writes, and only for that', () => {
  for (const role of rolesOf(made)) {
    const actions = actionsOf(role)
    const does = (pattern: RegExp) => [...actions].some((action) => pattern.test(action))
    const services = ofKey(role).map(({ Condition }) => textOf(Condition?.StringEquals?.['kms:ViaService']))
    const expected = [
      ...(does(/^dynamodb:/) ? ['dynamodb.<Region>.amazonaws.com'] : []),
      ...(does(/^s3:(Get|Put)Object/) ? ['s3.<Region>.amazonaws.com'] : []),
      ...(does(/^sqs:/) ? ['sqs.<Region>.amazonaws.com'] : []),
    ]
    expect([role.function, ...services]).toEqual([role.function, ...expected])
    expect(ofKey(role).map(({ Resource }) => Resource)).toEqual(services.map(() => KEY))
    expect([role.function, [...actions].filter((action) => /^kms:.*[*]|CreateGrant/.test(action))]).toEqual([
      role.function,
      [],
    ])
  }
})

test('who only reads may only decrypt, and who touches no data has no right to the key', () => {
  const byName = new Map(rolesOf(made).map((role) => [role.function, role]))
  const kms = (name: string) => {
    const role = byName.get(name)
    return role === undefined ? [] : ofKey(role).flatMap(({ Action }) => Action)
  }
  expect(kms('get-block')).toEqual(['kms:Decrypt', 'kms:Decrypt'])
  expect(kms('upload-object')).toContain('kms:GenerateDataKey')
  expect(kms('run-block')).toEqual(expect.arrayContaining(['kms:Encrypt', 'kms:GenerateDataKey']))
  expect(kms('net-gate')).toEqual([])
})

test('without it no role knows of a key, and turning it on replaces nothing', () => {
  expect(rolesOf(plain).flatMap(ofKey)).toEqual([])
  expect(JSON.stringify(plain.all('AWS::Logs::LogGroup'))).not.toContain('KmsKeyId')
  expect(lossesOf(statefulOf(plain), statefulOf(made))).toEqual([])
})

test('cdk-nag finds nothing more', () => {
  const packs = [new AwsSolutionsChecks(made.app), new ServerlessChecks(made.app)]
  expect(packs.flatMap((pack) => pack.validateScope(made.app).violations.map(({ ruleName }) => ruleName))).toEqual([])
})
