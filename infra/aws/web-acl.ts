import type { RestApi } from 'aws-cdk-lib/aws-apigateway'
import { CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2'
import { Construct } from 'constructs'
import type { Names } from './names.ts'

interface WebAclProps {
  readonly names: Names
  readonly api: RestApi
  /** `managed` = one of ours, else the ARN of one that is there. */
  readonly choice: string
}

/**
 * A web ACL before the API's stage. Ours looks at whom a request comes from, at headers, path and query, never at what a
 * body says: documents and prompts quote scripts, paths and markup, and may be longer than the 8 KB that AWS's own rule
 * allows. No request is sampled, since a sample shows its Authorization header; metrics and blocks need none.
 */
export class WebAcl extends Construct {
  constructor(scope: Construct, id: string, { names, api, choice }: WebAclProps) {
    super(scope, id)
    const webAclArn = choice === 'managed' ? this.own(names).attrArn : choice
    new CfnWebACLAssociation(this, 'Association', { resourceArn: api.deploymentStage.stageArn, webAclArn })
  }

  private own(names: Names): CfnWebACL {
    return new CfnWebACL(this, 'Acl', {
      name: names.table,
      description: 'Before the API of Sluice: too many requests of one address, known bad addresses, known attacks',
      scope: 'REGIONAL',
      defaultAction: { allow: {} },
      visibilityConfig: seenAs(names.table),
      rules: [tooMany(names), ...GROUPS.map((group, i) => groupRule(names, group, i + 1))],
    })
  }
}

/** Requests of one address within five minutes, about seven a second: a room of people who look at runs stays below it. */
const MOST_AN_ADDRESS = 2_000

interface Group {
  readonly name: string
  /** Rules of it that count only: those that read bodies, except for the two attacks no document has a reason to hold. */
  readonly counted?: readonly string[]
}

/** AWS's own, by their names there; free but for the dollar a month every rule costs. Source: WAF guide, "AWS Managed Rules". */
const GROUPS: readonly Group[] = [
  { name: 'AWSManagedRulesAmazonIpReputationList' },
  { name: 'AWSManagedRulesKnownBadInputsRuleSet' },
  {
    name: 'AWSManagedRulesCommonRuleSet',
    counted: [
      'SizeRestrictions_BODY',
      'CrossSiteScripting_BODY',
      'GenericLFI_BODY',
      'GenericRFI_BODY',
      'EC2MetaDataSSRF_BODY',
    ],
  },
]

function tooMany(names: Names): CfnWebACL.RuleProperty {
  return {
    name: 'TooManyRequests',
    priority: 0,
    action: { block: {} },
    statement: { rateBasedStatement: { limit: MOST_AN_ADDRESS, evaluationWindowSec: 300, aggregateKeyType: 'IP' } },
    visibilityConfig: seenAs(`${names.table}-TooManyRequests`),
  }
}

function groupRule(names: Names, { name, counted = [] }: Group, priority: number): CfnWebACL.RuleProperty {
  const ruleActionOverrides = counted.map((rule) => ({ name: rule, actionToUse: { count: {} } }))
  return {
    name,
    priority,
    overrideAction: { none: {} },
    statement: {
      managedRuleGroupStatement: { vendorName: 'AWS', name, ...(counted.length === 0 ? {} : { ruleActionOverrides }) },
    },
    visibilityConfig: seenAs(`${names.table}-${name}`),
  }
}

function seenAs(metricName: string): CfnWebACL.VisibilityConfigProperty {
  return { cloudWatchMetricsEnabled: true, sampledRequestsEnabled: false, metricName }
}
