// @module-tag thorough
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readDeploySettings } from '../../../infra/aws/deploy-settings.ts'
import { assembled } from './assembled.ts'
import { type Assembly, STACKS, textOf } from './assembly.ts'
import { type Synthesized, synthesize } from './synthesized.ts'

/** A stage whose table, and maybe bucket, a restore made (docs/operate.md, "Restoring"). */
let plain: Assembly
let made: Synthesized
let moved: Synthesized
beforeAll(async () => {
  plain = await assembled()
  made = await synthesize({ 'sluice:restore_from': 'sluice-dev-0211' }, undefined, 'placeholders')
  const other = JSON.stringify({ table: 'sluice-dev-0211', bucket: 'elsewhere-0211' })
  moved = await synthesize({ 'sluice:restore_from': other }, undefined, 'placeholders')
}, 400_000)
afterAll(() => {
  made?.remove()
  moved?.remove()
})

const textsOf = (of: Assembly) => STACKS.map((stack) => JSON.stringify(of.template(stack))).join('\n')
const typesOf = (of: Assembly, stack: string) =>
  Object.values(of.template(stack))
    .map(({ Type }) => Type)
    .toSorted()

describe('sluice:restore_from', () => {
  test('makes no table, keeps the bucket, and everything else is there as before', () => {
    const without = typesOf(plain, 'SluiceData').filter((type) => type !== 'AWS::DynamoDB::Table')
    expect(typesOf(made, 'SluiceData')).toEqual(without)
    expect(made.all('AWS::S3::Bucket').map(({ Properties }) => textOf(Properties.BucketName))).toContain(
      'sluice-dev-<AccountId>-<Region>',
    )
    for (const stack of ['SluiceMachines', 'SluiceOperations', 'SluiceApi']) {
      expect(Object.keys(made.template(stack)).toSorted()).toEqual(Object.keys(plain.template(stack)).toSorted())
    }
  })

  test('every role and every function is told of the restored table, and none of the old one', () => {
    const tables = made.all('AWS::Lambda::Function').flatMap(({ Properties }) => {
      const { Variables } = Properties.Environment as { readonly Variables: Readonly<Record<string, unknown>> }
      return 'TABLE' in Variables ? [textOf(Variables.TABLE)] : []
    })
    expect(new Set(tables)).toEqual(new Set(['sluice-dev-0211']))
    const arns = new Set([...textsOf(made).matchAll(/:table\/([\w.-]+)/g)].map(([, name]) => name))
    expect(arns).toEqual(new Set(['sluice-dev-0211']))
  })

  test('another bucket is named everywhere, and made nowhere', () => {
    expect(moved.all('AWS::S3::Bucket')).toEqual([])
    expect(textsOf(moved)).not.toMatch(/"sluice-dev-"|s3:::sluice-dev-/)
    expect(textsOf(moved)).toContain('s3:::elsewhere-0211')
  })

  test('what a stage has one of keeps its name: the API, its logs, the dashboard', () => {
    expect(made.all('AWS::ApiGateway::RestApi').map(({ Properties }) => Properties.Name)).toEqual(['sluice-dev'])
    expect(made.all('AWS::CloudWatch::Dashboard').map(({ Properties }) => Properties.DashboardName)).toEqual([
      'sluice-dev',
    ])
  })

  test('cdk-nag finds nothing that is not acknowledged', () => {
    for (const { app } of [made, moved]) {
      const found = [new AwsSolutionsChecks(app), new ServerlessChecks(app)].flatMap((pack) =>
        pack.validateScope(app).violations.map(({ ruleName }) => ruleName),
      )
      expect(found).toEqual([])
    }
  })

  test.each([
    ['a b'],
    ['{"bucket":"only-a-bucket"}'],
    ['{"table":"t1x","bucket":"Not_A_Bucket"}'],
    ['{"tabel":"abc"}'],
  ])('refuses %s, and says what is allowed', (given) => {
    const read = () =>
      readDeploySettings((key) => ({ 'sluice:stage': 'dev', 'sluice:auth': 'iam', 'sluice:restore_from': given })[key])
    expect(read).toThrow(/"sluice:restore_from" is .*the name of a table, or an object of table and bucket/)
  })
})
