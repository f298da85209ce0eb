import { Duration, RemovalPolicy, Size, Stack } from 'aws-cdk-lib'
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Architecture, Code, Function as LambdaFunction, Runtime, Tracing } from 'aws-cdk-lib/aws-lambda'
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs'
import type { IQueue } from 'aws-cdk-lib/aws-sqs'
import { Construct } from 'constructs'
import { FUNCTIONS, type FunctionLine } from '../../shared/catalog.ts'
import { type ChosenRights, functionArn, rightStatements } from './access.ts'
import { withoutCovered } from './covered-statements.ts'
import { keyStatements } from './customer-key.ts'
import { functionSize } from './function-sizes.ts'
import { policyName, type Right, stageRights } from './grants.ts'
import type { Names } from './names.ts'
import { networkStatements } from './network.ts'
import { VERSION_OPTIONS } from './release.ts'

interface CatalogFunctionProps {
  readonly line: FunctionLine
  readonly names: Names
  /** Folder of the function's bundle: `index.mjs` and what lies beside it. */
  readonly bundle: string
  readonly environment: Readonly<Record<string, string>>
  /** What the stage's settings decide; only who has the right gets to what they name. */
  readonly chosen?: ChosenRights
  /** Where releases are gradual, of what machines call: a version of it is published, and stays. */
  readonly versioned?: boolean
  /** For functions that are invoked asynchronously: where an event goes that failed three times. */
  readonly deadLetters?: IQueue
}

/**
 * One line of the catalog as a Lambda: its own log group, and its own role with exactly what its rights are. The role is
 * closed: no construct adds to it later.
 */
export class CatalogFunction extends Construct {
  readonly function: LambdaFunction

  constructor(scope: Construct, props: CatalogFunctionProps) {
    super(scope, props.line.name)
    const { line, names, bundle, environment, deadLetters } = props
    const functionName = names.function(line.name)
    const { timeoutSec, memoryMb, diskMb, ...kept } = functionSize(line.name)
    const atOnce = kept.atOnce ?? (props.chosen?.reserved === true ? kept.keptFree : undefined)
    const logGroup = new LogGroup(this, 'Logs', {
      logGroupName: `/aws/lambda/${functionName}`,
      retention: RetentionDays.ONE_MONTH,
      removalPolicy: RemovalPolicy.DESTROY,
    })
    const role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      inlinePolicies: this.policies(stageRights(line, props.chosen ?? {}), logGroup, props),
    })
    this.function = new LambdaFunction(this, 'Function', {
      functionName,
      code: Code.fromAsset(bundle),
      handler: 'index.handler',
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      timeout: Duration.seconds(timeoutSec),
      memorySize: memoryMb,
      role: role.withoutPolicyUpdates(),
      logGroup,
      tracing: Tracing.ACTIVE,
      environment: { ...environment },
      ...(deadLetters === undefined ? {} : { deadLetterQueue: deadLetters }),
      ...(props.versioned === true ? { currentVersionOptions: VERSION_OPTIONS } : {}),
      ...(diskMb === undefined ? {} : { ephemeralStorageSize: Size.mebibytes(diskMb) }),
      ...(atOnce === undefined ? {} : { reservedConcurrentExecutions: atOnce }),
    })
  }

  private policies(rights: readonly Right[], logs: LogGroup, props: CatalogFunctionProps) {
    const { names, deadLetters, chosen = NOTHING_CHOSEN } = props
    const stack = Stack.of(this)
    // A policy without a statement is none.
    const allowed = onceWhereMany(
      rights.map((right) => [right, rightStatements(right, stack, names, chosen)] as const),
      chosen,
    ).filter(([, statements]) => statements.length > 0)
    const policies = Map.groupBy(allowed, ([right]) => policyName(right))
    const documents = [...policies].map(([name, parts]) => {
      const statements = parts.flatMap(([, given]) => given)
      return [name, new PolicyDocument({ statements, minimize: true })] as const
    })
    // Anchors are under a key of S3's own (bucket-stacks.ts).
    const underKey = allowed.filter(([right]) => !right.startsWith('anchors.'))
    const actions = underKey.flatMap(([, statements]) => statements.flatMap((statement) => statement.actions))
    const sent = deadLetters === undefined ? [] : ['sqs:SendMessage']
    const key = chosen.key && keyStatements(chosen.key, stack.region, [...actions, ...sent])
    const allow = (action: string[], resource: string) =>
      new PolicyDocument({ statements: [new PolicyStatement({ actions: action, resources: [resource] })] })
    return {
      ...Object.fromEntries(documents),
      logs: allow(['logs:CreateLogStream', 'logs:PutLogEvents'], logs.logGroupArn),
      traces: allow(['xray:PutTraceSegments', 'xray:PutTelemetryRecords'], '*'),
      ...(deadLetters === undefined ? {} : { 'dead-letters': allow(sent, deadLetters.queueArn) }),
      ...(key ? { key: new PolicyDocument({ statements: [...key] }) } : {}),
      ...(chosen.network === true ? { network: networkOf(functionArn(stack, names, props.line.name)) } : {}),
    }
  }
}

function networkOf(arn: string): PolicyDocument {
  return new PolicyDocument({ statements: [...networkStatements(arn)] })
}

type Allowed = readonly (readonly [Right, readonly PolicyStatement[]])[]

/** Each tenant makes every statement longer, and IAM limits them all together: where there are several, nothing is said twice. */
function onceWhereMany(allowed: Allowed, { tenants }: ChosenRights): Allowed {
  if (tenants.length < 2) return allowed
  const each = allowed.flatMap(([right, statements]) => statements.map((statement) => [right, statement] as const))
  const left = withoutCovered(each.map(([, statement]) => statement))
  return each.flatMap(([right], i) => {
    const statement = left[i]
    return statement === undefined ? [] : [[right, [statement]] as const]
  })
}

const NOTHING_CHOSEN: ChosenRights = {
  tenants: [],
  secrets: [],
  models: [],
  research: { secrets: [], models: [] },
  embeddings: [],
  shell: false,
}

/** What only the stack of the machines knows; who makes machines is told. */
export interface MachineFacts {
  readonly roleArn: string
  readonly logGroupArn: string
  /** Where releases are gradual, of who starts runs: the one of this deployment, as JSON. */
  readonly release?: string
}

/**
 * The environment of one function, as functions/aws/entry.ts reads it: names and ARNs of what it has a right to,
 * nothing else, never a secret.
 */
export function functionEnvironment(
  line: FunctionLine,
  stack: Stack,
  names: Names,
  chosen: Pick<ChosenRights, 'closed'>,
  facts?: MachineFacts,
): Record<string, string> {
  const rights = stageRights(line, chosen)
  const has = (start: string) => rights.some((right: Right) => right.startsWith(start))
  const arns = (...functions: readonly string[]) =>
    Object.fromEntries(functions.map((name) => [arnVariable(name), functionArn(stack, names, name)]))
  const machineFunctions = FUNCTIONS.filter(({ placeholder }) => placeholder !== undefined).map(({ name }) => name)
  return {
    STAGE: names.stage,
    ...(OF_TABLE.some(has) ? { TABLE: names.table } : {}),
    ...(OF_BUCKET.some(has) ? { BUCKET: names.bucket(stack.account, stack.region) } : {}),
    ...(has('drops.') ? { DROPS: names.drops(stack.account, stack.region) } : {}),
    ...(has('anchors.') ? { ANCHORS: names.anchors(stack.account, stack.region) } : {}),
    ...arns(...CALLED.filter(([right]) => rights.includes(right)).map(([, name]) => name)),
    ...(has('machine.ensure') ? { ...arns(...machineFunctions), ...machineVariables(facts) } : {}),
    ...(OF_ROLE.some(has) && facts !== undefined ? { STATE_MACHINE_ROLE_ARN: facts.roleArn } : {}),
    ...(has('machine.start') && facts?.release !== undefined ? { DEPLOYED_RELEASE: facts.release } : {}),
  }
}

/** Functions that others call; some are named without being there: nobody calls what the settings do not ask for. */
const CALLED: readonly (readonly [Right, string])[] = [
  ['outbox.nudge', 'send-outbox'],
  ['webhooks.nudge', 'send-outbox'],
  ['outbox.start', 'start-run'],
  ['outbox.graph', 'index-graph'],
  ['outbox.fire', 'fire-triggers'],
  ['outbox.mark', 'keep-or-erase'],
  ['outbox.bulk', 'run-bulk'],
  ['outbox.slack', 'slack-work'],
  ['outbox.webhook', 'send-webhooks'],
  ['outbox.bus', 'send-bus-events'],
  ['outbox.anchor', 'write-anchor'],
  ['http.request', 'net-gate'],
  ['shell.run', 'shell-gate'],
]
const OF_TABLE = [
  'runs.',
  'waits.',
  'triggers.',
  'graph.',
  'search.',
  'index.',
  'tokens.',
  'spending.',
  'health.',
  'machine.clear',
  'machine.takeBack',
]
const OF_ROLE = ['machine.clear', 'machine.named', 'machine.deployed']
const OF_BUCKET = ['objects.', 'search.', 'index.']

/** The role's ARN also says in which account inline machines are. */
function machineVariables(facts: MachineFacts | undefined): Record<string, string> {
  return facts === undefined ? {} : { STATE_MACHINE_ROLE_ARN: facts.roleArn, MACHINE_LOG_GROUP_ARN: facts.logGroupArn }
}

function arnVariable(name: string): string {
  return `${name.toUpperCase().replaceAll('-', '_')}_ARN`
}
