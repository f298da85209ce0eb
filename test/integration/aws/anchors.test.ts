// @module-tag thorough
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readStageSettings } from '../../../infra/aws/stage-settings.ts'
import { type Settings, SettingsSchema } from '../../../shared/settings/settings.ts'
import { WHOLE } from '../../how-much.ts'
import { readAccesses } from './accesses.ts'
import { assembled } from './assembled.ts'
import { type Assembly, ROOT, textOf } from './assembly.ts'
import { lossesOf, statefulOf } from './stateful.ts'
import { type Synthesized, synthesize } from './synthesized.ts'

/** A stage that anchors, its other data under a key of the customer's. */
const KEY = 'arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab'
const BUCKET = 'sluice-dev-anchors-<AccountId>-<Region>'
let made: Synthesized
let plain: Assembly
beforeAll(async () => {
  plain = await assembled()
  made = await synthesize(
    { 'sluice:key': KEY },
    withAudit({ anchor: 's3-object-lock', retention_days: 400 }),
    'placeholders',
  )
}, 300_000)
afterAll(() => made?.remove())

function withAudit(audit: object): Settings {
  return SettingsSchema.parse({ ...readStageSettings(ROOT, { stage: 'dev' }), audit })
}

const anchorsOf = ({ template }: Assembly) =>
  Object.values(template('SluiceAnchors')).filter(({ Type }) => Type === 'AWS::S3::Bucket')
const rightsOf = (who: string) =>
  readAccesses(made)
    .filter((access) => access.who === who && !/^(logs|traces)$/.test(access.policy))
    .map(({ policy, actions, resources }) => [policy, [...actions].sort(), resources])

describe('audit.anchor', () => {
  test('by default there is no bucket, no function, and no right that names one', () => {
    expect(anchorsOf(plain)).toEqual([])
    expect(plain.all('AWS::Lambda::Function').map(({ Properties }) => textOf(Properties.FunctionName))).not.toContain(
      'sluice-dev-write-anchor',
    )
    const named = readAccesses(plain).filter(({ resources }) => resources.some((one) => /anchor/.test(one)))
    expect(named).toEqual([])
  })

  test('makes a bucket with Object Lock in compliance mode, in a stack of its own that stays', () => {
    const [bucket] = anchorsOf(made).filter(({ Properties }) => Properties.BucketName !== undefined)
    expect(textOf(bucket?.Properties.BucketName)).toBe(BUCKET)
    expect(bucket?.DeletionPolicy).toBe('Retain')
    expect(bucket?.Properties).toMatchObject({
      ObjectLockEnabled: true,
      ObjectLockConfiguration: {
        ObjectLockEnabled: 'Enabled',
        Rule: { DefaultRetention: { Mode: 'COMPLIANCE', Days: 400 } },
      },
      VersioningConfiguration: { Status: 'Enabled' },
      PublicAccessBlockConfiguration: { BlockPublicAcls: true, RestrictPublicBuckets: true },
    })
    // Not under the customer's key: whoever deletes that would take every anchor with it.
    expect(JSON.stringify(made.template('SluiceAnchors'))).not.toContain(KEY)
    expect(JSON.stringify(bucket?.Properties.LifecycleConfiguration)).toContain('"ExpirationInDays":430')
    const stack = made.app.node.findChild('SluiceAnchors') as { terminationProtection?: boolean }
    expect(stack.terminationProtection).toBe(true)
  })

  test('write-anchor may put an anchor and nothing else; who calls it cannot reach the bucket', () => {
    expect(rightsOf('write-anchor')).toEqual([['anchors.put', ['s3:PutObject'], [`s3:::${BUCKET}/anchors/main/*`]]])
    const puts = readAccesses(made).filter(({ resources }) => resources.some((one) => one.startsWith(`s3:::${BUCKET}`)))
    expect(puts.map(({ who, actions }) => [who, [...actions].sort()])).toEqual([
      ['verify-run', ['s3:GetObjectRetention', 's3:GetObjectVersion']],
      ['verify-run', ['s3:ListBucketVersions']],
      ['write-anchor', ['s3:PutObject']],
    ])
    const callers = readAccesses(made).filter(({ resources }) =>
      resources.some((one) => one.endsWith('sluice-dev-write-anchor')),
    )
    expect(callers.map(({ who }) => who).filter((who) => who !== 'write-anchor')).toEqual(['send-outbox'])
  })

  test('replaces nothing of a stage that had none, and its functions fit', () => {
    expect(lossesOf(statefulOf(plain), statefulOf(made))).toEqual([])
    for (const { Properties } of made.all('AWS::Lambda::Function')) {
      const { Variables } = (Properties.Environment ?? { Variables: {} }) as { Variables: Record<string, unknown> }
      const isTold = 'ANCHORS' in Variables
      const name = textOf(Properties.FunctionName).replace('sluice-dev-', '')
      expect([name, isTold]).toEqual([name, ['write-anchor', 'verify-run'].includes(name)])
    }
  })

  test('cdk-nag finds nothing more; the templates’ linter neither', (context) => {
    const packs = [new AwsSolutionsChecks(made.app), new ServerlessChecks(made.app)]
    expect(packs.flatMap((pack) => pack.validateScope(made.app).violations.map(({ ruleName }) => ruleName))).toEqual([])
    if (!WHOLE) return context.skip('asked in npm run test:all')
    if (spawnSync('cfn-lint', ['--version']).status !== 0) return context.skip('cfn-lint is not on PATH')
    const file = join(made.out, 'SluiceAnchors.template.json')
    const linted = spawnSync('cfn-lint', ['--ignore-checks', 'W3005', '--', file], { encoding: 'utf8' })
    expect(linted.stdout + linted.stderr).toBe('')
  }, 400_000)
})

test('anchors whose lock ends before the record does are refused, with the number that is allowed', () => {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-anchors-'))
  const text = 'audit: { anchor: s3-object-lock, retention_days: 100 }\nsafety: { retention_days: 365 }\n'
  writeFileSync(join(dir, 'sluice.prod.yaml'), text)
  expect(() => readStageSettings(dir, { stage: 'prod' })).toThrow(
    'Cannot deploy these settings. sluice.prod.yaml: audit.retention_days: is 100, and records of runs are kept 365 days (safety.retention_days); allowed: 365 to 3650.',
  )
  rmSync(dir, { recursive: true, force: true })
})
