import { RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib'
import { CfnTaskDefinition } from 'aws-cdk-lib/aws-ecs'
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs'
import { Construct } from 'constructs'
import { readCallName } from '../../shared/dag/native-call.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import { FETCH, PUBLISH, taskFamily, taskFolders } from '../../shared/steps/container-task.ts'
import type { CallRight } from '../../shared/steps/integrations.ts'
import { rightsOfCalls } from '../../shared/steps/native-calls.ts'
import type { ContainerSettings } from '../../shared/steps/native-settings.ts'
import type { StepGrant } from '../../shared/steps/settings.ts'
import { sha256 } from '../../shared/text/hash.ts'
import { bucketFolder, type ChosenRights, exchangeStatement, secretStatement } from './access.ts'
import { keyStatements } from './customer-key.ts'
import type { Names } from './names.ts'

/** A container that deployed documents run. */
export interface DeployedContainer {
  readonly name: string
  readonly settings: ContainerSettings & { readonly aws: NonNullable<ContainerSettings['aws']> }
}

/** The containers among the calls of a stage's documents; one without a cluster is no call (shared/steps/native-calls.ts). */
export function deployedContainers({ containers }: Settings, calls: readonly string[]): readonly DeployedContainer[] {
  return calls.flatMap((name) => {
    const call = readCallName(name)
    const settings = call?.handler === 'container' ? containers[call.name] : undefined
    if (call?.handler !== 'container' || settings?.aws === undefined) return []
    return [{ name: call.name, settings: { ...settings, aws: settings.aws } }]
  })
}

/** What the role of the machines may do for the calls of a stage's documents: exactly that. */
export function callRights(
  settings: Settings,
  calls: readonly string[],
  at: { readonly partition: string; readonly region: string; readonly account: string; readonly names: Names },
): readonly CallRight[] {
  const containers = deployedContainers(settings, calls)
  const taskOf = (name: string) =>
    containers.filter((one) => one.name === name).flatMap((one) => taskRights(one, settings.tenants, at))
  return rightsOfCalls(settings, calls, { ...at, taskOf })
}

function taskRights(
  { name, settings: { aws } }: DeployedContainer,
  tenants: readonly string[],
  { partition, region, account, names }: Parameters<typeof callRights>[2],
): readonly CallRight[] {
  const arn = (service: string, rest: string) => `arn:${partition}:${service}:${region}:${account}:${rest}`
  const roles = [
    ...tenants.map((tenant) => names.taskRole({ tenant, name }, region)),
    names.executionRole(slugOf(name), region),
  ]
  return [
    // Every deployment makes another revision of the family.
    { actions: ['ecs:RunTask'], resources: [`${arn('ecs', `task-definition/${taskFamily(names.stage, name)}`)}:*`] },
    {
      actions: ['ecs:StopTask', 'ecs:DescribeTasks'],
      resources: [`${aws.cluster.replace(':cluster/', ':task/')}/*`],
      conditions: { ArnEquals: { 'ecs:cluster': aws.cluster } },
    },
    {
      actions: ['iam:PassRole'],
      resources: roles.map((role) => `arn:${partition}:iam::${account}:role/${role}`),
      conditions: { StringEquals: { 'iam:PassedToService': 'ecs-tasks.amazonaws.com' } },
    },
    {
      actions: ['events:PutTargets', 'events:PutRule', 'events:DescribeRule'],
      resources: [arn('events', 'rule/StepFunctionsGetEventsForECSTaskRule')],
    },
  ]
}

/** Names of roles are short, and the name of a container need not be. */
function slugOf(name: string): string {
  return sha256(name).slice(0, 8)
}

/** As a policy; undefined: there is nothing to allow. */
export function callPolicy(rights: readonly CallRight[]): PolicyDocument | undefined {
  if (rights.length === 0) return undefined
  const statements = rights.map(
    ({ actions, resources, conditions }) =>
      new PolicyStatement({
        actions: [...actions],
        resources: [...resources],
        ...(conditions === undefined ? {} : { conditions }),
      }),
  )
  return new PolicyDocument({ statements, minimize: true })
}

/** The ids under which cdk-nag finds what of it is wide: what a service has no narrower name for, and the operator's grants. */
export function wideFindings(rights: readonly CallRight[]): readonly string[] {
  const ids = rights.flatMap(({ actions, resources }) => [
    ...resources.filter((one) => one.includes('*')).map((one) => `AwsSolutions-IAM5[Resource::${one}]`),
    ...actions.filter((one) => one.includes('*')).map((one) => `AwsSolutions-IAM5[Action::${one}]`),
  ])
  return [...new Set(ids)]
}

export interface ContainersStackProps extends StackProps {
  readonly names: Names
  readonly containers: readonly DeployedContainer[]
  readonly chosen: ChosenRights
}

/** The tasks of containers, in a cluster of the operator's: each with a log, a definition, and a role a tenant of its own. */
export class ContainersStack extends Stack {
  constructor(scope: Construct, id: string, { names, containers, chosen, ...props }: ContainersStackProps) {
    super(scope, id, props)
    for (const container of containers) new ContainerTask(this, container, { names, chosen })
  }
}

const SERVICE = 'ecs-tasks.amazonaws.com'
const VOLUME = 'sluice'
const MOUNT = [{ sourceVolume: VOLUME, containerPath: '/sluice' }]

/**
 * The container itself stands between two that bring its files and take what it wrote: it needs no code of AWS, and finds
 * the same folder as on a laptop. The task ends with the last of them, or fails with the first that does. The definition
 * names no role: who starts a task says which tenant's it works as.
 */
class ContainerTask extends Construct {
  constructor(
    scope: Construct,
    container: DeployedContainer,
    { names, chosen }: Pick<ContainersStackProps, 'names' | 'chosen'>,
  ) {
    super(scope, container.name)
    const { name, settings } = container
    const stack = Stack.of(this)
    const { aws } = settings
    const family = taskFamily(names.stage, name)
    const logs = new LogGroup(this, 'Logs', {
      logGroupName: `/aws/ecs/${family}`,
      retention: RetentionDays.ONE_MONTH,
      removalPolicy: RemovalPolicy.DESTROY,
    })
    const assumedBy = new ServicePrincipal(SERVICE, {
      conditions: { StringEquals: { 'aws:SourceAccount': stack.account } },
    })
    for (const tenant of chosen.tenants) {
      new Role(this, `TaskRole-${tenant}`, {
        roleName: names.taskRole({ tenant, name }, stack.region),
        assumedBy,
        inlinePolicies: taskPolicies(stack, container, { tenant, names, key: chosen.key }),
      })
    }
    const execution = new Role(this, 'ExecutionRole', {
      roleName: names.executionRole(slugOf(name), stack.region),
      assumedBy,
      inlinePolicies: executionPolicies(container, logs),
    })
    const logConfiguration = {
      logDriver: 'awslogs',
      options: { 'awslogs-group': logs.logGroupName, 'awslogs-region': stack.region, 'awslogs-stream-prefix': name },
    }
    const helper = (which: string, script: string) => ({
      name: which,
      image: aws.helper_image,
      entryPoint: ['/bin/sh', '-c'],
      command: [script],
      environment: [{ name: 'BUCKET', value: names.bucket(stack.account, stack.region) }],
      mountPoints: MOUNT,
      logConfiguration,
    })
    new CfnTaskDefinition(this, 'Task', {
      family,
      requiresCompatibilities: ['FARGATE'],
      networkMode: 'awsvpc',
      cpu: String(settings.cpu),
      memory: String(settings.memory_mb),
      runtimePlatform: {
        cpuArchitecture: aws.architecture === 'arm64' ? 'ARM64' : 'X86_64',
        operatingSystemFamily: 'LINUX',
      },
      executionRoleArn: execution.roleArn,
      volumes: [{ name: VOLUME }],
      containerDefinitions: [
        { ...helper('fetch', FETCH), essential: false },
        {
          name: 'main',
          image: settings.image,
          essential: false,
          workingDirectory: '/sluice',
          environment: Object.entries(settings.env).map(([variable, value]) => ({ name: variable, value })),
          secrets: Object.entries(settings.secrets).flatMap(([variable, { secret }]) =>
            secret === undefined ? [] : [{ name: variable, valueFrom: secret }],
          ),
          mountPoints: MOUNT,
          logConfiguration,
          dependsOn: [{ containerName: 'fetch', condition: 'SUCCESS' }],
        },
        {
          ...helper('publish', PUBLISH),
          essential: true,
          dependsOn: [{ containerName: 'main', condition: 'SUCCESS' }],
        },
      ],
    })
  }
}

interface TaskOf {
  readonly tenant: string
  readonly names: Names
  readonly key: ChosenRights['key']
}

/** What it works with and makes for this tenant, what the settings grant, and nothing else: it lists nothing. */
function taskPolicies(
  stack: Stack,
  { name, settings: { grants } }: DeployedContainer,
  { tenant, names, key: customers }: TaskOf,
): Record<string, PolicyDocument> {
  const exchange = exchangeStatement([bucketFolder(stack, names, taskFolders({ tenant, name }))])
  const key = customers && keyStatements(customers, stack.region, exchange.actions)
  return {
    exchange: new PolicyDocument({ statements: [exchange] }),
    ...(grants.length === 0 ? {} : { grants: new PolicyDocument({ statements: grants.map(grantStatement) }) }),
    ...(key ? { key: new PolicyDocument({ statements: [...key] }) } : {}),
  }
}

function grantStatement({ actions, resources }: StepGrant): PolicyStatement {
  return new PolicyStatement({ actions: [...actions], resources: [...resources] })
}

/** What ECS itself needs before the container is there: its image, its secrets, a place for its lines. */
function executionPolicies(
  { settings: { secrets, aws } }: DeployedContainer,
  logs: LogGroup,
): Record<string, PolicyDocument> {
  const arns = [...new Set(Object.values(secrets).flatMap(({ secret }) => secret ?? []))]
  const pull = ['ecr:BatchCheckLayerAvailability', 'ecr:GetDownloadUrlForLayer', 'ecr:BatchGetImage']
  const images =
    aws.repository === undefined
      ? []
      : [
          new PolicyStatement({ actions: pull, resources: [aws.repository] }),
          new PolicyStatement({ actions: ['ecr:GetAuthorizationToken'], resources: ['*'] }),
        ]
  const written = new PolicyStatement({
    actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
    resources: [logs.logGroupArn],
  })
  return {
    logs: new PolicyDocument({ statements: [written] }),
    ...(images.length === 0 ? {} : { images: new PolicyDocument({ statements: images }) }),
    ...(arns.length === 0 ? {} : { secrets: new PolicyDocument({ statements: arns.map(ecsSecret) }) }),
  }
}

/** ECS reads several parameters at once, by another action than a function does. */
function ecsSecret(arn: string): PolicyStatement {
  if (arn.split(':')[2] !== 'ssm') return secretStatement(arn)
  return new PolicyStatement({ actions: ['ssm:GetParameters'], resources: [arn] })
}
