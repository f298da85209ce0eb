import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import {
  CfnResource,
  type IPolicyValidationContext,
  type IPolicyValidationPlugin,
  type PolicyValidationPluginReport,
  type Stack,
} from 'aws-cdk-lib'
import type { CloudAssembly } from 'aws-cdk-lib/cx-api'
import { AWS_QUOTAS, QUOTAS_AS_OF } from '../../shared/aws-quotas.ts'
import { FUNCTIONS } from '../../shared/catalog.ts'
import { bindPlaceholders } from '../../shared/compile/bind-placeholders.ts'
import { Fault } from '../../shared/errors.ts'
import { versionedFunction } from '../../shared/runs/release.ts'
import type { MachineDag } from './deployed-dags.ts'

/** What a synthesis was asked for, to say what would be less. */
interface Asked {
  readonly documents: number
  /** `sluice:document_stacks`. */
  readonly spread: number
}

/** Fault InvalidInput too_many_documents, before anything is written; of other stacks aws_quota_exceeded. */
export function requireResourceRoom(growing: readonly Stack[], others: readonly Stack[], asked: Asked): void {
  for (const stack of [...growing, ...others]) {
    const size = stack.node.findAll().filter((node) => CfnResource.isCfnResource(node)).length
    const { most } = AWS_QUOTAS.stack_resources
    if (size <= most) continue
    if (growing.includes(stack)) {
      throw tooMany(stack.artifactId, `${size} resources, and CloudFormation takes ${most}`, asked)
    }
    const fix = 'Let documents name fewer steps or containers, or deploy some of them as a stage of their own'
    throw exceeded({ quota: 'stack_resources', what: `stack ${stack.artifactId}`, size, fix })
  }
}

/** Fault InvalidInput aws_quota_exceeded: a machine whose text is larger than Step Functions takes, with every ARN in it at its longest. */
export function requireMachineRoom(dags: readonly MachineDag[]): void {
  for (const { slug, definition, parts } of dags) {
    const arns = Object.fromEntries([
      ...FUNCTIONS.flatMap(({ placeholder }) =>
        // As it is where releases are gradual, which is the longer.
        placeholder === undefined ? [] : [[placeholder, versionedFunction(LONGEST_ARN, placeholder)]],
      ),
      ...parts.map(({ key }) => [key, LONGEST_ARN]),
    ])
    for (const [i, text] of [definition, ...parts.map((part) => part.text)].entries()) {
      const what = i === 0 ? `the machine of "${slug}"` : `part ${i} of the machine of "${slug}"`
      const fix = 'Split the document: put a part of it into a DAG of its own (mode: dag)'
      refuse([
        { quota: 'machine_bytes', what, size: Buffer.byteLength(bindPlaceholders(text, arns)), fix },
        ...statesOf(text).map((name) => {
          const shorter = 'Give the block a shorter id'
          return {
            quota: 'state_name_characters',
            what: `state "${name}" of ${what}`,
            size: name.length,
            fix: shorter,
          } as const
        }),
      ])
    }
  }
}

/** A release a day for as long as versions stay (shared/runs/release.ts). */
const RELEASES_KEPT = 400

/**
 * Fault InvalidInput aws_quota_exceeded: where releases are gradual, what machines call takes more of Lambda's storage than an
 * account has. Counted as it is bundled; AWS stores it zipped, which is a third of it.
 */
export function requireCodeRoom(built: string): void {
  const folders = FUNCTIONS.filter(({ placeholder }) => placeholder !== undefined).map(({ name }) =>
    join(built, 'functions', name),
  )
  const files = folders.flatMap((folder) => readdirSync(folder).map((file) => join(folder, file)))
  const size = files.reduce((sum, file) => sum + statSync(file).size, 0) * RELEASES_KEPT
  const fix = 'Let providers name smaller packages, or leave sluice:release at at_once'
  refuse([{ quota: 'function_code_bytes', what: `the code of ${RELEASES_KEPT} releases`, size, fix }])
}

/** Names of all states, those of branches too. */
function statesOf(text: string): readonly string[] {
  const names: string[] = []
  JSON.parse(text, (key, value: unknown) => {
    if (key === 'States') names.push(...Object.keys(recordOf(value)))
    return value
  })
  return names
}

/**
 * Measures every template that was written against the quotas, with what deployment fills in at its longest. Fault InvalidInput
 * names the place, the figure, the quota and what to do: too_many_documents, role_too_large, environment_too_large,
 * aws_quota_exceeded.
 */
export function requireQuotas(
  { stacks }: Pick<CloudAssembly, 'stacks'>,
  asked: Asked = { documents: 0, spread: 0 },
): void {
  for (const { id, template, templateFullPath } of stacks) {
    const { size } = statSync(templateFullPath)
    const { most } = AWS_QUOTAS.template_bytes
    if (size > most) throw tooMany(id, `a template of ${size} bytes, and CloudFormation takes ${most}`, asked)
    refuse(measureTemplate(id, recordOf(template)))
  }
}

/** The same for an app of somebody else's, where the CDK alone knows when templates are written (cdk.ts). */
export class QuotaChecks implements IPolicyValidationPlugin {
  readonly name = 'sluice-quotas'

  validate({ stackTemplates }: IPolicyValidationContext): PolicyValidationPluginReport {
    const violations = stackTemplates.flatMap(({ stackConstructPath, templatePath }) => {
      const template = recordOf(JSON.parse(readFileSync(templatePath, 'utf8')))
      const bytes = measured(
        'template_bytes',
        `the template of ${stackConstructPath}`,
        statSync(templatePath).size,
        LESS,
      )
      return [bytes, ...measureTemplate(stackConstructPath, template)].filter(isOver).map((over) => ({
        ruleName: over.quota,
        description: wordsOf(over),
        violatingResources: [{ constructPath: stackConstructPath, locations: [] }],
      }))
    })
    return { success: violations.length === 0, violations }
  }
}

type QuotaName = keyof typeof AWS_QUOTAS

/** One figure beside its quota. */
export interface Measured {
  readonly quota: QuotaName
  /** What of the template it is the size of. */
  readonly what: string
  readonly size: number
  /** What makes it less. */
  readonly fix: string
}

/** Every figure of a template that AWS has a quota for. */
export function measureTemplate(stack: string, template: Readonly<Record<string, unknown>>): readonly Measured[] {
  const resources = Object.entries(recordOf(template.Resources)).map(([id, value]) => resourceOf(stack, id, value))
  const ofStack = (quota: QuotaName, size: number): Measured => ({
    ...{ quota, what: `stack ${stack}`, size },
    fix: LESS,
  })
  return [
    ofStack('stack_resources', resources.length),
    ofStack('stack_outputs', Object.keys(recordOf(template.Outputs)).length),
    ofStack('stack_parameters', Object.keys(recordOf(template.Parameters)).length),
    ofStack('stack_description_bytes', lengthOf(template.Description)),
    ...resources.flatMap((resource) => [...measureTags(resource), ...(MEASURES[resource.type]?.(resource) ?? [])]),
    ...resources.map(({ id, what }) => measured('logical_id_characters', what, id.length, SHORTER_NAMES)),
    ...measureTogether(stack, resources),
  ]
}

interface Resource {
  readonly id: string
  readonly type: string
  readonly properties: Readonly<Record<string, unknown>>
  /** For words. */
  readonly what: string
}

function resourceOf(stack: string, id: string, value: unknown): Resource {
  const { Type, Properties } = recordOf(value)
  const type = String(Type)
  return { id, type, properties: recordOf(Properties), what: `${id} (${type}) of stack ${stack}` }
}

function measured(quota: QuotaName, what: string, size: number, fix: string): Measured {
  return { quota, what, size, fix }
}

const LESS = 'Deploy some of the documents as a stage of their own'
const SHORTER_STAGE = 'Give the stage a shorter name'
const SHORTER_NAMES = 'Give the stage, or the document, step or container, a shorter name'
const FEWER_NETS = 'Name fewer in sluice:network, or in aws of the step'
const LESS_THROTTLE = 'Lower it in sluice:throttle, or have AWS raise the quota'
const FEWER_TAGS = 'Take tags out of sluice:tags, or make them shorter'

type Measures = (resource: Resource) => readonly Measured[]

function name(quota: QuotaName, property: string, fix = SHORTER_NAMES): Measures {
  return ({ what, properties }) => [measured(quota, `the name of ${what}`, lengthOf(properties[property]), fix)]
}

function size(quota: QuotaName, property: string, part: string, fix: string): Measures {
  return ({ what, properties }) => [measured(quota, `${part} of ${what}`, compactLength(properties[property]), fix)]
}

function all(...several: readonly Measures[]): Measures {
  return (resource) => several.flatMap((measures) => measures(resource))
}

const SHORTER_PATTERN = 'Ask for less in events.pattern of the settings'

const MEASURES: Readonly<Record<string, Measures>> = {
  'AWS::Lambda::Function': all(name('function_name_characters', 'FunctionName'), ({ what, properties }) => [
    measured(
      'environment_bytes',
      `the environment of ${what}`,
      longJson(recordOf(properties.Environment).Variables).length,
      'All of it is names and ARNs made of the stage’s name: give the stage a shorter one',
    ),
    measured(
      'function_timeout_sec',
      `the time-out of ${what}`,
      Number(properties.Timeout ?? 0),
      'Lower it in infra/aws/function-sizes.ts',
    ),
    measured(
      'function_subnets',
      `the network of ${what}`,
      listOf(recordOf(properties.VpcConfig).SubnetIds).length,
      FEWER_NETS,
    ),
    measured(
      'function_security_groups',
      `the network of ${what}`,
      listOf(recordOf(properties.VpcConfig).SecurityGroupIds).length,
      FEWER_NETS,
    ),
    measured(
      'function_description_characters',
      `the description of ${what}`,
      lengthOf(properties.Description),
      SHORTER_NAMES,
    ),
  ]),
  'AWS::IAM::Role': all(
    name('role_name_characters', 'RoleName'),
    size('role_trust_characters', 'AssumeRolePolicyDocument', 'the trust policy', 'Let fewer principals assume it'),
    measurePolicies,
  ),
  'AWS::StepFunctions::StateMachine': name('machine_name_characters', 'StateMachineName'),
  'AWS::StepFunctions::StateMachineAlias': name('machine_name_characters', 'Name'),
  'AWS::Logs::LogGroup': name('log_group_name_characters', 'LogGroupName'),
  'AWS::Logs::ResourcePolicy': size('log_policy_characters', 'PolicyDocument', 'the policy', SHORTER_STAGE),
  'AWS::DynamoDB::Table': name('table_name_characters', 'TableName', SHORTER_STAGE),
  'AWS::SQS::Queue': name('queue_name_characters', 'QueueName', SHORTER_STAGE),
  'AWS::S3::Bucket': name('bucket_name_characters', 'BucketName', SHORTER_STAGE),
  'AWS::S3::BucketPolicy': size('bucket_policy_bytes', 'PolicyDocument', 'the policy', 'Have fewer tenants'),
  'AWS::Events::Rule': all(
    name('rule_name_characters', 'Name'),
    size('rule_pattern_characters', 'EventPattern', 'the pattern', SHORTER_PATTERN),
    ({ what, properties: { Targets } }) => [
      measured('rule_targets', `the targets of ${what}`, listOf(Targets).length, 'Call fewer functions by one rule'),
      ...listOf(Targets).map((target) =>
        measured('rule_input_characters', `the input of ${what}`, lengthOf(recordOf(target).Input), SHORTER_NAMES),
      ),
    ],
  ),
  'AWS::ApiGateway::RestApi': size(
    'api_policy_characters',
    'Policy',
    'the resource policy',
    'Name fewer endpoints in sluice:private_api',
  ),
  'AWS::ApiGateway::Stage': ({ what, properties: { MethodSettings } }) =>
    listOf(MethodSettings).flatMap((settings) => {
      const { ThrottlingRateLimit = 0, ThrottlingBurstLimit = 0 } = recordOf(settings)
      return [
        measured('api_rate', `the throttle of ${what}`, Number(ThrottlingRateLimit), LESS_THROTTLE),
        measured('api_burst', `the throttle of ${what}`, Number(ThrottlingBurstLimit), LESS_THROTTLE),
      ]
    }),
  'AWS::CloudWatch::Alarm': all(
    name('alarm_name_characters', 'AlarmName'),
    ({ what, properties: { Metrics, AlarmDescription } }) => [
      measured('alarm_description_characters', `the description of ${what}`, lengthOf(AlarmDescription), SHORTER_NAMES),
      measured(
        'alarm_metrics',
        `the metrics of ${what}`,
        listOf(Metrics).filter((metric) => recordOf(metric).MetricStat !== undefined).length,
        'Share the metrics among alarms (infra/aws/monitoring.ts)',
      ),
    ],
  ),
  'AWS::CloudWatch::Dashboard': ({ what, properties }) => [
    measured(
      'dashboard_metrics',
      `the metrics of ${what}`,
      longText(properties.DashboardBody).split('"stat"').length - 1,
      'Show fewer in infra/aws/monitoring.ts',
    ),
  ],
  'AWS::ECS::TaskDefinition': ({ what, properties }) => [
    measured(
      'task_definition_bytes',
      what,
      longJson(properties).length,
      'Give the container a shorter environment in the settings',
    ),
  ],
}

function measurePolicies({ what, properties }: Resource): readonly Measured[] {
  const policies = listOf(properties.Policies).map((policy) => {
    const { PolicyName, PolicyDocument } = recordOf(policy)
    return [String(PolicyName), compactLength(PolicyDocument)] as const
  })
  const sum = policies.reduce((total, [, one]) => total + one, 0)
  const most = policies.toSorted(([, a], [, b]) => b - a).slice(0, 3)
  const parts = most.map(([policy, one]) => `${policy} ${one}`).join(', ')
  return [
    measured(
      'role_policy_characters',
      `the policies of role ${what}, the most of it ${parts}`,
      sum,
      'Let documents name fewer calls, functions, containers or steps, give their rights on fewer resources, take tenants out, or deploy some of the documents as a stage of their own',
    ),
    ...policies.map(([policy]) =>
      measured('policy_name_characters', `the name of a policy of ${what}`, policy.length, SHORTER_NAMES),
    ),
  ]
}

function measureTags({ what, properties: { Tags } }: Resource): readonly Measured[] {
  const tags: readonly (readonly [string, unknown])[] = Array.isArray(Tags)
    ? Tags.map((tag) => [String(recordOf(tag).Key), recordOf(tag).Value] as const)
    : Object.entries(recordOf(Tags))
  return [
    measured('tags', `the tags of ${what}`, tags.length, FEWER_TAGS),
    ...tags.map(([key]) => measured('tag_key_characters', `a tag of ${what}`, key.length, FEWER_TAGS)),
    ...tags.map(([key, value]) =>
      measured('tag_value_characters', `tag "${key}" of ${what}`, lengthOf(value), FEWER_TAGS),
    ),
  ]
}

/** What several resources make up together. */
function measureTogether(stack: string, resources: readonly Resource[]): readonly Measured[] {
  const of = (type: string) => resources.filter((resource) => resource.type === type)
  const callers = Map.groupBy(of('AWS::Lambda::Permission'), ({ properties }) =>
    JSON.stringify(properties.FunctionName),
  )
  return [
    measured(
      'api_resources',
      `the API of stack ${stack}`,
      of('AWS::ApiGateway::Resource').length + 1,
      'Fold routes together in shared/routes.ts, or have AWS raise the quota',
    ),
    measured(
      'api_authorizers',
      `the API of stack ${stack}`,
      of('AWS::ApiGateway::Authorizer').length,
      'Use one authorizer',
    ),
    ...[...callers].map(([function_name, permissions]) =>
      measured(
        'function_policy_bytes',
        `who may invoke ${function_name} of stack ${stack}`,
        permissions.reduce((sum, { properties }) => sum + STATEMENT_BYTES + longJson(properties).length, 0),
        'Let fewer routes and rules call it',
      ),
    ),
  ]
}

/** What a permission becomes as a statement besides its properties: Sid, Effect, names of members. */
const STATEMENT_BYTES = 200

const CODES: Partial<Record<QuotaName, (message: string) => Fault>> = {
  role_policy_characters: (message) => new Fault('InvalidInput', 'role_too_large', message),
  environment_bytes: (message) => new Fault('InvalidInput', 'environment_too_large', message),
}

function refuse(found: readonly Measured[]): void {
  const over = found.find(isOver)
  if (over !== undefined) throw exceeded(over)
}

function isOver({ quota, size: seen }: Measured): boolean {
  return seen > AWS_QUOTAS[quota].most
}

function exceeded(over: Measured): Fault {
  const message = `Cannot deploy: ${wordsOf(over)}`
  return CODES[over.quota]?.(message) ?? new Fault('InvalidInput', 'aws_quota_exceeded', message)
}

function wordsOf({ quota, what, size: seen, fix }: Measured): string {
  const { most, source } = AWS_QUOTAS[quota]
  const unit = quota.split('_').at(-1) ?? ''
  return `${what} would have up to ${seen} ${unit}, and AWS takes ${most}. ${fix}. (${source}, as of ${QUOTAS_AS_OF})`
}

/** As AWS is sent it, white space not counted. */
function compactLength(value: unknown): number {
  return value === undefined ? 0 : longJson(value).replaceAll(/\s/g, '').length
}

function lengthOf(value: unknown): number {
  return value === undefined ? 0 : longText(value).length
}

/** JSON in which what CloudFormation fills in counts at its length, or the longest there is. */
function longJson(value: unknown): string {
  const text = JSON.stringify(value, (_key, one: unknown) => (isFilledIn(one) ? filledIn(one) : one))
  return Buffer.from(text ?? '').toString('latin1')
}

function longText(value: unknown): string {
  return isFilledIn(value) ? filledIn(value) : String(value)
}

function isFilledIn(value: unknown): boolean {
  const keys = Object.keys(recordOf(value))
  return keys.length === 1 && keys.some((key) => key === 'Ref' || key.startsWith('Fn::'))
}

const PSEUDO: Readonly<Record<string, string>> = {
  'AWS::AccountId': '0'.repeat(12),
  'AWS::Region': 'ap-southeast-1',
  'AWS::Partition': 'aws-us-gov',
  'AWS::URLSuffix': 'amazonaws.com.cn',
  'AWS::StackName': 's'.repeat(40),
  'AWS::NoValue': '',
}
/** An ARN of this stage that another resource, or another stack, gives: of a machine with the longest name, or a version of it. */
const LONGEST_ARN = `arn:aws-us-gov:states:ap-southeast-1:${'0'.repeat(12)}:stateMachine:${'m'.repeat(AWS_QUOTAS.machine_name_characters.most)}:9999`
/** Names of resources of this stage, and ARNs of what is no machine: of functions of 64 characters the longest. */
const USUAL_ARN = 110

/** Lambda numbers the versions of a function for ever. */
const LONGEST_VERSION = '9'.repeat(7)

function filledIn(value: unknown): string {
  if (typeof value === 'string') return value
  const { Ref, 'Fn::Join': join, 'Fn::Sub': sub, 'Fn::GetAtt': attribute } = recordOf(value)
  if (typeof Ref === 'string' && Object.hasOwn(PSEUDO, Ref)) return PSEUDO[Ref] ?? ''
  if (listOf(attribute)[1] === 'Version') return LONGEST_VERSION
  if (typeof sub === 'string')
    return sub.replaceAll(/\$\{([^}]+)\}/g, (_all, key: string) => PSEUDO[key] ?? '-'.repeat(USUAL_ARN))
  const [between, parts] = listOf(join)
  if (Array.isArray(parts)) return parts.map((part) => filledIn(part)).join(String(between))
  return '-'.repeat(USUAL_ARN)
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {}
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function tooMany(stack: string, what: string, { documents, spread }: Asked): Fault {
  const enough = Math.max(spread + 1, Math.ceil(documents / 100))
  const message = `Cannot deploy ${documents} documents: stack ${stack} would have ${what}. sluice:document_stacks is ${spread}; a stage that was never deployed takes another number, say -c sluice:document_stacks=${enough}. One that was keeps its own: docs/deploy.md, "Many documents", says what to do there.`
  return new Fault('InvalidInput', 'too_many_documents', message)
}
