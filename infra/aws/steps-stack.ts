import { join } from 'node:path'
import { Duration, RemovalPolicy, Size, Stack, type StackProps } from 'aws-cdk-lib'
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Architecture, CfnFunction, Code, Function as LambdaFunction, Runtime, Tracing } from 'aws-cdk-lib/aws-lambda'
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs'
import { Construct } from 'constructs'
import { MAIN_TENANT } from '../../shared/auth/principal.ts'
import { functionMemory, type StepGrant } from '../../shared/steps/settings.ts'
import { type ChosenRights, functionArn, rightStatements, secretStatement } from './access.ts'
import { keyStatements } from './customer-key.ts'
import type { DeployedStep } from './deployed-steps.ts'
import type { Names } from './names.ts'
import { NETWORK_ACTIONS } from './network.ts'

interface StepsStackProps extends StackProps {
  readonly names: Names
  readonly steps: readonly DeployedStep[]
  readonly chosen: ChosenRights
  /** Holds `steps/<slug>/`. */
  readonly built: string
}

/** The functions of the project's steps, one a tenant: each with a role, a log and versions of its own. */
export class StepsStack extends Stack {
  constructor(scope: Construct, id: string, { names, steps, chosen, built, ...props }: StepsStackProps) {
    super(scope, id, props)
    for (const tenant of chosen.tenants) {
      for (const step of steps)
        new StepFunction(this, step, { names, chosen: { ...chosen, tenants: [tenant] }, built, tenant })
    }
  }
}

interface StepParts extends Pick<StepsStackProps, 'names' | 'built'> {
  readonly tenant: string
  /** Of this tenant alone: its code may use the rights of its function, and so do its grants. */
  readonly chosen: ChosenRights
}

/** Lambda's own limit; a step is aborted at its block's timeout_ms, 840 s at the most. */
const LONGEST = Duration.seconds(900)

class StepFunction extends Construct {
  constructor(scope: Construct, step: DeployedStep, parts: StepParts) {
    const { names, built, tenant } = parts
    const functionName = names.step(step.slug, tenant)
    // That of main is named as it was before there were others.
    super(scope, tenant === MAIN_TENANT ? step.slug : functionName)
    const { aws } = step.settings
    const logGroup = new LogGroup(this, 'Logs', {
      logGroupName: `/aws/lambda/${functionName}`,
      retention: RetentionDays.ONE_MONTH,
      removalPolicy: RemovalPolicy.DESTROY,
    })
    const role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      inlinePolicies: policiesOf(Stack.of(this), step, logGroup, parts),
    })
    const { account, region } = Stack.of(this)
    const made = new LambdaFunction(this, 'Function', {
      functionName,
      description: tenant === MAIN_TENANT ? `Step ${step.name}` : `Step ${step.name} of tenant ${tenant}`,
      code: Code.fromAsset(join(built, 'steps', step.slug)),
      handler: 'index.handler',
      runtime: Runtime.NODEJS_24_X,
      architecture: aws.architecture === 'arm64' ? Architecture.ARM_64 : Architecture.X86_64,
      timeout: LONGEST,
      memorySize: functionMemory(step.settings),
      ephemeralStorageSize: Size.mebibytes(aws.storage_mb),
      role: role.withoutPolicyUpdates(),
      logGroup,
      tracing: Tracing.ACTIVE,
      environment: {
        STAGE: names.stage,
        BUCKET: names.bucket(account, region),
        REPORT_STEP_ARN: functionArn(Stack.of(this), names, 'report-step'),
      },
      ...(aws.reserved_concurrency === undefined ? {} : { reservedConcurrentExecutions: aws.reserved_concurrency }),
      // A run goes on with the code it began with: a version of each stays, found by its description.
      currentVersionOptions: {
        description: step.described.hash,
        removalPolicy: RemovalPolicy.RETAIN,
        // A lost attempt is found by its record; an old one would find its attempt taken by another.
        retryAttempts: 0,
        maxEventAge: Duration.minutes(2),
      },
    })
    const cfn = made.node.defaultChild
    if (cfn instanceof CfnFunction) setNetworkAndLayers(cfn, aws)
    // It is published because somebody asks for it.
    void made.currentVersion
  }
}

/** As the settings name them: they are looked up nowhere. */
function setNetworkAndLayers(
  cfn: CfnFunction,
  { subnets, security_groups, layers }: DeployedStep['settings']['aws'],
): void {
  if (subnets.length > 0) cfn.vpcConfig = { subnetIds: [...subnets], securityGroupIds: [...security_groups] }
  if (layers.length > 0) cfn.layers = [...layers]
}

/** What it stores and says, what its settings grant, and nothing else. */
function policiesOf(
  stack: Stack,
  { settings }: DeployedStep,
  logs: LogGroup,
  { names, chosen }: Pick<StepsStackProps, 'names' | 'chosen'>,
): Record<string, PolicyDocument> {
  const { grants, secrets, aws } = settings
  const objects = (['objects.get', 'objects.put'] as const).flatMap((right) =>
    rightStatements(right, stack, names, chosen),
  )
  const arns = [...new Set(Object.values(secrets).flatMap(({ secret }) => secret ?? []))]
  const key =
    chosen.key &&
    keyStatements(
      chosen.key,
      stack.region,
      objects.flatMap((statement) => statement.actions),
    )
  const document = (statements: readonly PolicyStatement[]) =>
    new PolicyDocument({ statements: [...statements], minimize: true })
  const allow = (actions: string[], resource: string) =>
    document([new PolicyStatement({ actions, resources: [resource] })])
  return {
    objects: document(objects),
    report: allow(['lambda:InvokeFunction'], functionArn(stack, names, 'report-step')),
    logs: allow(['logs:CreateLogStream', 'logs:PutLogEvents'], logs.logGroupArn),
    traces: allow(['xray:PutTraceSegments', 'xray:PutTelemetryRecords'], '*'),
    ...(arns.length === 0 ? {} : { secrets: document(arns.map(secretStatement)) }),
    ...(grants.length === 0 ? {} : { grants: document(grants.map(grantStatement)) }),
    ...(aws.subnets.length > 0 || chosen.network === true ? { network: allow(NETWORK_ACTIONS, '*') } : {}),
    ...(key ? { key: document(key) } : {}),
  }
}

function grantStatement({ actions, resources }: StepGrant): PolicyStatement {
  return new PolicyStatement({ actions: [...actions], resources: [...resources] })
}
