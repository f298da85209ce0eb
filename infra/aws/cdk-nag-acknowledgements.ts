import { Aws, type Stack, Validations } from 'aws-cdk-lib'
import { CfnFunction } from 'aws-cdk-lib/aws-lambda'
import { MAIN_TENANT } from '../../shared/auth/principal.ts'
import { anchorPrefix } from '../../shared/runs/anchors.ts'
import { taskFolders } from '../../shared/steps/container-task.ts'
import type { ChosenRights } from './access.ts'
import { type AskedModel, modelsBehind } from './bedrock-models.ts'
import type { DeployedStep } from './deployed-steps.ts'
import { functionsIn } from './function-sizes.ts'
import type { Names } from './names.ts'
import { type DeployedContainer, wideFindings } from './native-calls.ts'

/** Findings of cdk-nag that are one decision. A finding without an acknowledgement fails synthesis. */
interface Acknowledgement {
  readonly rules: readonly string[]
  readonly reason: string
  /** Default: every resource of the stacks. */
  readonly on?: (resource: unknown) => boolean
}

/** At most eight. What wildcards they let through is held by the access matrix (docs/access-matrix.md). */
export function acknowledgementsFor(
  names: Names,
  models: readonly AskedModel[] = [],
  tenants: readonly string[] = [MAIN_TENANT],
  anchors = false,
  steps: readonly string[] = [],
  containers: readonly string[] = [],
  drops = false,
): readonly Acknowledgement[] {
  const states = 'arn:<AWS::Partition>:states:<AWS::Region>:<AWS::AccountId>'
  const bucket = `arn:<AWS::Partition>:s3:::${names.bucket('<AWS::AccountId>', '<AWS::Region>')}`
  const locked = `arn:<AWS::Partition>:s3:::${names.anchors('<AWS::AccountId>', '<AWS::Region>')}`
  const wildcards = [
    ...tenants.flatMap((tenant) => [`${bucket}/${tenant}/objects/*`, `${bucket}/${tenant}/index/*`]),
    ...(containers.length === 0 ? [] : tenants.flatMap((tenant) => exchangeFolders(bucket, tenant, containers))),
    ...(anchors ? tenants.map((tenant) => `${locked}/${anchorPrefix(tenant)}*`) : []),
    ...(drops ? [`arn:<AWS::Partition>:s3:::${names.drops('<AWS::AccountId>', '<AWS::Region>')}/*`] : []),
    ...steps.flatMap((name) => versionsOfStep(name, tenants)),
    ...functionsIn('machine').map(({ name }) => `${LAMBDA}:function:${names.function(name)}:*`),
    `${states}:stateMachine:${names.machine('*')}`,
    `${states}:stateMachine:${names.inlineMachines}*`,
    `${states}:execution:${names.machine('*')}:*`,
    `${states}:stateMachine:${names.machinePart('*', '*')}`,
    `${states}:execution:${names.machinePart('*', '*')}:*`,
  ]
  return [
    {
      rules: ['AwsSolutions-IAM5[Resource::*]', 'Serverless-LambdaStarPermissions'],
      reason:
        "X-Ray's writes, log delivery and API Gateway's log role have no resource level in AWS; the actions are spelled out.",
    },
    {
      rules: wildcards.map((resource) => `AwsSolutions-IAM5[Resource::${resource}]`),
      reason:
        'Objects and snapshots of the search index are named by their hash, what people drop by them, executions and anchors by their run id, machines of inline documents by theirs, versions of machines, of their functions and of steps by number: made at run time, below a prefix that only this deployment uses.',
    },
    {
      rules: ['AwsSolutions-APIG4', 'AwsSolutions-COG4'],
      reason:
        'Callers are signed by IAM (SigV4), or an authorizer checks their bearer credential: every method has one of the two, there is no user pool. Three have none and are throttled: callbacks, whose function checks the signature of the address first, and what Slack and senders of webhooks call, whose functions check that of the raw body.',
    },
    {
      rules: ['AwsSolutions-APIG3'],
      reason:
        'Unsigned requests end at API Gateway, the stage is throttled and bodies are guarded; a web ACL costs nearly as much each month as an idle deployment. `sluice:waf` puts one before the stage.',
    },
    {
      rules: ['Serverless-LambdaDLQ'],
      reason:
        'Called synchronously, by a machine or API Gateway: the caller is told, and nothing is ever put into a dead-letter queue. A lost attempt of a step is found by its record.',
      on: (resource) => resource instanceof CfnFunction && resource.deadLetterConfig === undefined,
    },
    ...spreadModels(models),
    { rules: ['Serverless-SQSRedrivePolicy'], reason: 'It is the dead-letter queue.' },
    {
      rules: ['Serverless-SNSRedrivePolicy'],
      reason: 'The mail of an alarm: one that cannot be delivered is still an alarm in CloudWatch.',
    },
  ]
}

const LAMBDA = 'arn:<AWS::Partition>:lambda:<AWS::Region>:<AWS::AccountId>'

/** Where there are several tenants each has a function of its own, whose name begins as that of main. */
function versionsOfStep(name: string, tenants: readonly string[]): readonly string[] {
  const arn = `${LAMBDA}:function:${name}`
  return [`${arn}:*`, ...(tenants.length > 1 ? [`${arn}-*`, `${arn}-*:*`] : [])]
}

/** run-block exchanges files with all containers of a tenant, each container in its own folder. */
function exchangeFolders(bucket: string, tenant: string, containers: readonly string[]): readonly string[] {
  const own = containers.map((name) => `${bucket}/${taskFolders({ tenant, name })}/*`)
  return [`${bucket}/${tenant}/containers/*`, ...own]
}

/** Only of a stage whose settings list an inference profile. */
function spreadModels(models: readonly AskedModel[]): readonly Acknowledgement[] {
  const resources = new Set(models.flatMap(({ id }) => modelsBehind(id)))
  if (resources.size === 0) return []
  return [
    {
      rules: [...resources].map((model) => `AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:bedrock:${model}]`),
      reason:
        'An inference profile answers from models of regions that AWS chooses; a condition lets only calls through that profile reach them.',
    },
  ]
}

type Acknowledged = Pick<ChosenRights, 'models' | 'tenants' | 'anchors' | 'steps' | 'containers' | 'drops'>

export function acknowledgeFindings(
  stacks: readonly Stack[],
  names: Names,
  { models, tenants, anchors, steps, containers = [], drops = false }: Acknowledged,
): void {
  for (const { rules, reason, on } of acknowledgementsFor(names, models, tenants, anchors, steps, containers, drops)) {
    const places = on === undefined ? stacks : stacks.flatMap((stack) => stack.node.findAll().filter(on))
    for (const place of places) Validations.of(place).acknowledge(...rules.map((id) => ({ id, reason })))
  }
}

/** Versions of steps are numbered by Lambda, and a grant is the operator's own word, with its reason where it is wide. */
export function acknowledgeSteps(stacks: readonly Stack[], steps: readonly DeployedStep[]): void {
  const wide = steps.flatMap(({ settings: { grants } }) =>
    grants.flatMap(({ actions, resources, reason }) =>
      reason === undefined
        ? []
        : [
            ...resources.filter((one) => one.includes('*')).map((one) => `AwsSolutions-IAM5[Resource::${one}]`),
            ...actions.filter((one) => one.includes('*')).map((one) => `AwsSolutions-IAM5[Action::${one}]`),
          ],
    ),
  )
  const reason = 'Granted to a step in the settings, with a reason that sluice deploy shows.'
  for (const stack of stacks) {
    Validations.of(stack).acknowledge({
      id: 'Serverless-LambdaAsyncFailureDestination',
      reason:
        'A step that fails tells report-step; of one that could not, the record of its run finds that it was lost.',
    })
    if (wide.length > 0) Validations.of(stack).acknowledge(...[...new Set(wide)].map((id) => ({ id, reason })))
  }
}

/**
 * What a service has no narrower name for (a job that is not there yet, the tasks of one cluster), and what the operator
 * granted: both are shown by sluice deploy. Names of objects of a bucket are made at run time.
 */
export function acknowledgeCalls(
  machines: Stack,
  tasks: readonly Stack[],
  wide: readonly string[],
  containers: readonly DeployedContainer[],
): void {
  const reason =
    'What documents have AWS call has no narrower name before it is called, or was granted in the settings.'
  const acknowledge = (stack: Stack, ids: readonly string[]) => {
    if (ids.length > 0) Validations.of(stack).acknowledge(...ids.map((id) => ({ id, reason })))
  }
  acknowledge(machines, wide.map(asFound))
  const grants = containers.flatMap(({ settings }) => settings.grants)
  for (const stack of tasks) {
    acknowledge(stack, wideFindings(grants))
    Validations.of(stack).acknowledge({
      id: 'AwsSolutions-ECS2',
      reason: 'Its environment is that of the settings, which hold no secret: secrets come from their keepers.',
    })
  }
}

/** As cdk-nag writes what deployment fills in. */
function asFound(id: string): string {
  return id
    .replaceAll(Aws.PARTITION, '<AWS::Partition>')
    .replaceAll(Aws.REGION, '<AWS::Region>')
    .replaceAll(Aws.ACCOUNT_ID, '<AWS::AccountId>')
}
