// @module-tag thorough
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PRICES } from '../../../shared/plan/aws-prices.ts'
import { idleCost } from '../../../shared/plan/idle-cost.ts'
import { WHOLE } from '../../how-much.ts'
import { assembled } from './assembled.ts'
import { type Assembly, STACKS, textOf } from './assembly.ts'
import { type Synthesized, synthesize } from './synthesized.ts'

/** A web ACL before the API, where a stage asks for one. */
let managed: Synthesized
let plain: Assembly
beforeAll(async () => {
  plain = await assembled()
  managed = await synthesize({ 'sluice:waf': 'managed' }, undefined, 'placeholders')
}, 300_000)
afterAll(() => managed.remove())

interface Rule {
  readonly Name: string
  readonly Priority: number
  readonly Action?: object
  readonly OverrideAction?: object
  readonly VisibilityConfig: { readonly SampledRequestsEnabled: boolean; readonly CloudWatchMetricsEnabled: boolean }
  readonly Statement: {
    readonly RateBasedStatement?: object
    readonly ManagedRuleGroupStatement?: { readonly RuleActionOverrides?: readonly { readonly Name: string }[] }
  }
}

const acl = ({ all }: Assembly) => all('AWS::WAFv2::WebACL')[0]?.Properties
const rules = () => (acl(managed)?.Rules ?? []) as readonly Rule[]
const stageOf = ({ all }: Assembly) => all('AWS::WAFv2::WebACLAssociation').map(({ Properties }) => Properties)

describe('sluice:waf', () => {
  test('by default there is none, and without it nothing else differs', () => {
    expect([...plain.all('AWS::WAFv2::WebACL'), ...plain.all('AWS::WAFv2::WebACLAssociation')]).toEqual([])
    const without = (assembly: Assembly) =>
      STACKS.map((stack) =>
        Object.fromEntries(
          Object.entries(assembly.template(stack)).filter(
            // A deployment of an API is named by what it holds: the answer to a filtered request is one thing more.
            ([id, { Type }]) =>
              !/WAF/i.test(`${Type}${id}`) && Type !== 'AWS::ApiGateway::Deployment' && !/Stage$/.test(Type),
          ),
        ),
      )
    expect(without(managed)).toEqual(without(plain))
  })

  test('managed: one rule on rates, three groups of AWS, all else is let through to authorization', () => {
    expect(acl(managed)).toMatchObject({ Scope: 'REGIONAL', DefaultAction: { Allow: {} }, Name: 'sluice-dev' })
    expect(rules().map(({ Name, Priority }) => [Priority, Name])).toEqual([
      [0, 'TooManyRequests'],
      [1, 'AWSManagedRulesAmazonIpReputationList'],
      [2, 'AWSManagedRulesKnownBadInputsRuleSet'],
      [3, 'AWSManagedRulesCommonRuleSet'],
    ])
    expect(rules()[0]).toMatchObject({
      Action: { Block: {} },
      Statement: { RateBasedStatement: { Limit: 2_000, EvaluationWindowSec: 300, AggregateKeyType: 'IP' } },
    })
    expect(
      rules()
        .slice(1)
        .map(({ OverrideAction }) => OverrideAction),
    ).toEqual([{ None: {} }, { None: {} }, { None: {} }])
  })

  test('no rule of the common ones refuses a body: documents are longer than 8 KB and quote what attacks are made of', () => {
    const counted = rules()[3]?.Statement.ManagedRuleGroupStatement?.RuleActionOverrides ?? []
    // Every rule of that group that reads bodies (WAF guide, "Core rule set").
    const bodies = ['SizeRestrictions', 'CrossSiteScripting', 'GenericLFI', 'GenericRFI', 'EC2MetaDataSSRF']
    expect(counted.map(({ Name }) => Name).sort()).toEqual(bodies.map((name) => `${name}_BODY`).sort())
    expect(JSON.stringify(counted)).not.toContain('Block')
  })

  test('keeps no sample of a request: its Authorization header would be shown', () => {
    const seen = [acl(managed) as unknown as Rule, ...rules()].map(({ VisibilityConfig }) => VisibilityConfig)
    expect(seen).toHaveLength(5)
    for (const one of seen) expect(one).toMatchObject({ SampledRequestsEnabled: false, CloudWatchMetricsEnabled: true })
  })

  test('stands before the stage; what it refuses is answered as everything else is', () => {
    const [{ ResourceArn, WebACLArn } = {}, ...more] = stageOf(managed)
    expect(more).toEqual([])
    expect(textOf(ResourceArn)).toMatch(/:apigateway:<Region>::\/restapis\/<\w+>\/stages\/<\w+>$/)
    expect(textOf(WebACLArn)).toMatch(/^<WebAcl\w+\.Arn>$/)
    const answer = managed
      .all('AWS::ApiGateway::GatewayResponse')
      .find(({ Properties }) => Properties.ResponseType === 'WAF_FILTERED')
    expect(answer?.Properties.StatusCode).toBe('403')
    const { 'application/json': text } = (answer?.Properties.ResponseTemplates ?? {}) as Record<string, string>
    expect(JSON.parse(text ?? '')).toMatchObject({ code: 'request_filtered', status: 403 })
  })

  test('costs five dollars and one a rule', () => {
    const cost = (of: Assembly) => idleCost(Object.assign({}, ...STACKS.map(of.template)), PRICES)
    expect(cost(managed).lines.slice(-2)).toEqual([
      { what: 'web ACLs', quantity: 1, usd: 5 },
      { what: 'their rules', quantity: 4, usd: 4 },
    ])
    expect(cost(managed).usd_a_month - cost(plain).usd_a_month).toBeCloseTo(9, 4)
  })

  test("cdk-nag needs no word about it then, and has none; the templates' linter neither", (context) => {
    for (const pack of [new AwsSolutionsChecks(managed.app), new ServerlessChecks(managed.app)]) {
      expect(pack.validateScope(managed.app).violations).toEqual([])
    }
    const bare = new AwsSolutionsChecks()
    Object.assign(bare, { isAcknowledged: () => false })
    const found = bare.validateScope(managed.app).violations.map(({ ruleName }) => ruleName)
    expect(found.filter((rule) => /APIG3/.test(rule))).toEqual([])
    if (!WHOLE) return context.skip('asked in npm run test:all')
    if (spawnSync('cfn-lint', ['--version']).status !== 0) return context.skip('cfn-lint is not on PATH')
    const file = join(managed.out, 'SluiceApi.template.json')
    const linted = spawnSync('cfn-lint', ['--ignore-checks', 'W3005', '--', file], { encoding: 'utf8' })
    expect(linted.stdout + linted.stderr).toBe('')
  }, 400_000)
})

describe("an ACL of the account's", () => {
  const ARN = 'arn:aws:wafv2:eu-central-1:111122223333:regional/webacl/company/1234abcd-12ab-34cd-56ef-1234567890ab'

  test('is put before the stage, and nothing is made', { timeout: 240_000 }, async () => {
    const made = await assembled({ 'sluice:waf': ARN })
    expect(made.all('AWS::WAFv2::WebACL')).toEqual([])
    expect(stageOf(made).map(({ WebACLArn }) => WebACLArn)).toEqual([ARN])
  })

  test.each(['yes', 'arn:aws:wafv2:us-east-1:111122223333:global/webacl/cdn/1234', 'arn:aws:wafv2'])(
    'what is neither is refused by name: %s',
    async (given) => {
      await expect(assembled({ 'sluice:waf': given })).rejects.toThrow(
        `"sluice:waf" is ${JSON.stringify(given)}; allowed: none, managed, or the whole ARN of a regional web ACL`,
      )
    },
  )
})
