// @module-tag thorough
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { acknowledgementsFor } from '../../../infra/aws/cdk-nag-acknowledgements.ts'
import { stageNames } from '../../../infra/aws/names.ts'
import { MOST_TENANTS } from '../../../shared/auth/settings.ts'
import { assembled } from './assembled.ts'
import { type Assembly, STACKS, textOf } from './assembly.ts'
import { slackSettings } from './slack-settings.ts'
import { type Synthesized, synthesize } from './synthesized.ts'
import { webhookSettings } from './webhook-settings.ts'

/** As many tenants as there may be, with names as long as they may be, in a stage that has everything. */
const LONG = Array.from({ length: MOST_TENANTS - 1 }, (_, i) => `t${i}${'x'.repeat(30)}`)
const TENANTS = ['main', ...LONG]
const KEY = 'arn:aws:kms:ap-southeast-1:123456789012:key/11111111-2222-3333-4444-555555555555'
let most: Synthesized
let plain: Assembly

beforeAll(async () => {
  const { slack, ...settings } = slackSettings()
  if (slack === undefined) throw new Error('there is no workspace')
  const own = { ...settings, slack: { ...slack, tenant: LONG[0] ?? '' }, webhooks: [webhookSettings()] }
  const context = {
    'sluice:stage': 'productionxx',
    'sluice:auth': 'token',
    'sluice:key': KEY,
    'sluice:tenants': TENANTS.join(','),
  }
  most = await synthesize(context, { ...own, tenants: TENANTS }, 'placeholders')
  plain = await assembled()
}, 240_000)
afterAll(() => most?.remove())

/** Inline policies of each role, as IAM is sent them. */
function policies(): readonly { readonly id: string; readonly texts: readonly string[] }[] {
  return most.all('AWS::IAM::Role').map(({ id, Properties }) => {
    // The shape CloudFormation documents for inline policies.
    const inline = (Properties.Policies ?? []) as readonly { readonly PolicyDocument: unknown }[]
    return { id, texts: inline.map(({ PolicyDocument }) => resolved(PolicyDocument)) }
  })
}

/** With the account, and the longest region and names that there are. */
function resolved(document: unknown): string {
  return (
    JSON.stringify(document, (_key, value) => (isJoin(value) ? textOf(value) : value))
      .replaceAll('<Region>', 'ap-southeast-1')
      .replaceAll('<AccountId>', '123456789012')
      .replaceAll('<Partition>', 'aws-us-gov')
      // Of a log group or a queue of the stack itself.
      .replaceAll(
        /<\w+\.Arn>/g,
        'arn:aws-us-gov:logs:ap-southeast-1:123456789012:log-group:/aws/lambda/sluice-productionxx-name-of-it:*',
      )
  )
}

function isJoin(value: unknown): boolean {
  return typeof value === 'object' && value !== null && ('Fn::Join' in value || 'Fn::GetAtt' in value || 'Ref' in value)
}

// Source: IAM quotas, "Role inline policy size": 10,240 characters, white space not counted, of all of a role together.
test('the policies of every role fit, with the most and longest tenants', () => {
  const sizes = policies().map(({ id, texts }) => [id, texts.join('').replaceAll(/\s/g, '').length] as const)
  const [largest] = sizes.toSorted((a, b) => b[1] - a[1])
  expect(largest?.[1]).toBeGreaterThan(5_000)
  expect(sizes.filter(([, size]) => size > 10_240)).toEqual([])
})

test('who has a right on items or objects of one tenant has it on those of each, and of nobody else', () => {
  const named = policies().flatMap(
    ({ texts }) => texts.join('').match(/T#[a-z0-9-]+|\d\/[a-z0-9-]+\/(objects|index)\//g) ?? [],
  )
  const tenants = new Set(named.map((text) => text.replace('T#', '').replace(/^\d\/|\/(objects|index)\/$/g, '')))
  expect([...tenants].toSorted()).toEqual(TENANTS.toSorted())
  const lists = policies().flatMap(({ texts }) =>
    [...texts.join('').matchAll(/"dynamodb:LeadingKeys":(\[[^\]]*\]|"[^"]*")/g)].map(([, keys]) => keys ?? ''),
  )
  const ofTenants = lists.filter((keys) => keys.includes('T#') && !keys.includes('#slack#'))
  for (const keys of ofTenants) for (const tenant of TENANTS) expect(keys).toMatch(new RegExp(`"T#${tenant}["#]`))
})

test('clicks of Slack are noted for the one tenant whose workspace it is', () => {
  const text = JSON.stringify(policies())
  expect(text).toContain(`T#${LONG[0]}#I#slack#*`)
  expect(text.match(/#I#slack#/g)).toHaveLength(text.split(`T#${LONG[0]}#I#slack#`).length - 1)
})

test('snapshots of each expire within days, and each is indexed every minute and kept every day', () => {
  const buckets = JSON.stringify(most.all('AWS::S3::Bucket'))
  for (const tenant of TENANTS) expect(buckets).toContain(`"Prefix":"${tenant}/index/"`)
  const inputs = most
    .all('AWS::Events::Rule')
    .flatMap(({ Properties }) => Properties.Targets as readonly { readonly Input?: string }[])
    .map(({ Input }) => Input)
  for (const tenant of LONG) {
    expect(inputs).toContain(JSON.stringify({ tenant }))
    expect(inputs).toContain(JSON.stringify({ tenant, keep: {} }))
  }
  expect(inputs).toContain('{"keep":{}}')
})

test('places that leak in one tenant are alarmed on, whatever the others have', () => {
  const leaking = (made: Assembly) =>
    made.all('AWS::CloudWatch::Alarm').filter(({ Properties }) => JSON.stringify(Properties).includes('places_overdue'))
  expect(leaking(most).map(({ Properties }) => Properties.Statistic)).toEqual(['Maximum'])
  expect(leaking(plain).map(({ Properties }) => Properties.Statistic)).toEqual(['Minimum'])
})

test('cdk-nag finds nothing that is not acknowledged, and still at most eight are', () => {
  const findings = [new AwsSolutionsChecks(most.app), new ServerlessChecks(most.app)].flatMap((pack) =>
    pack.validateScope(most.app).violations.map(({ ruleName }) => ruleName),
  )
  expect(findings).toEqual([])
  expect(acknowledgementsFor(stageNames('dev'), [], TENANTS).length).toBeLessThanOrEqual(8)
})

test('naming the one tenant there is changes no template', { tags: ['thorough'] }, async () => {
  const named = await assembled({ 'sluice:tenants': 'main' })
  for (const stack of STACKS) expect(named.template(stack)).toEqual(plain.template(stack))
})
