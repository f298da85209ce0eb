import { join } from 'node:path'
import { ArnFormat, Duration, RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib'
import { CfnRule, EventBus, type IEventBus, Match, Rule, RuleTargetInput, Schedule } from 'aws-cdk-lib/aws-events'
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets'
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs'
import { type IQueue, Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs'
import { Construct } from 'constructs'
import { MAIN_TENANT } from '../../shared/auth/principal.ts'
import type { FunctionLine } from '../../shared/catalog.ts'
import { type ChosenRights, functionArn } from './access.ts'
import { CatalogFunction, functionEnvironment, type MachineFacts } from './catalog-function.ts'
import { DagMachine, type DagMachineProps } from './dag-machine.ts'
import { functionsIn, isDeployed } from './function-sizes.ts'
import { functionRights } from './grants.ts'
import type { Names } from './names.ts'
import { calledFunctions, deployedRelease, ReleaseGuard, releaseId } from './release.ts'
import { type DocumentTrigger, DroppedObjects, FiringTimes } from './trigger-schedules.ts'

interface MachinesStackProps extends StackProps {
  readonly names: Names
  readonly dags: readonly DagMachineProps['dag'][]
  /** What starts runs of documents by itself, with the slug of the document. */
  readonly triggers: readonly DocumentTrigger[]
  readonly chosen: ChosenRights
  /** What the machines' role may do for the calls of their documents. */
  readonly calls?: PolicyDocument | undefined
  /** Holds `functions/<name>/` and `definitions/<slug>.json`. */
  readonly built: string
}

/**
 * Everything that runs without a caller waiting: the machines, the functions they call, what starts and ends runs, and
 * the sweep. start-run is here and not beside its route because it is told the machines' versions: an export that
 * changes with each document could not be deployed.
 */
export class MachinesStack extends Stack {
  readonly machines: readonly DagMachine[]
  readonly deadLetters: Queue
  /** Id of the release where releases are gradual. */
  readonly release: string | undefined
  /** Number of each function's version, by placeholder. */
  private readonly versions = new Map<string, string>()

  constructor(scope: Construct, id: string, props: MachinesStackProps) {
    super(scope, id, props)
    const { names, dags } = props
    this.deadLetters = this.addDeadLetters(names)
    this.release = props.chosen.releases === true ? releaseId(props.built) : undefined
    const arns = functionsIn('machine').map((line) => [line.placeholder ?? '', this.calledArn(line, props)] as const)
    const { role } = new MachineRole(this, 'Machines', {
      names,
      functionArns: arns.map(([, arn]) => arn),
      calls: props.calls,
    })
    const logs = new LogGroup(this, 'MachineLogs', {
      logGroupName: names.machineLogs,
      retention: RetentionDays.ONE_MONTH,
      removalPolicy: RemovalPolicy.DESTROY,
    })
    const common = {
      names,
      roleArn: role.roleArn,
      logGroupArn: logs.logGroupArn,
      functionArns: calledFunctions(arns, this.release !== undefined),
    }
    this.machines = dags.map((dag) => this.addMachine(dag, common, props))
    const opening = functionsIn('machine')
      .filter(isTold)
      .map((line) => this.addFunction(line, props, common))
    const { release } = this
    const facts = release === undefined ? common : { ...common, release: deployedRelease(this, release, this.versions) }
    const unseen = functionsIn('unseen')
      .filter((line) => isDeployed(line, props.chosen))
      .map((line) => [line.name, this.addFunction(line, props, facts)] as const)
    for (const line of functionsIn('told')) this.addFunction(line, props, common)
    for (const line of functionsIn('called')) if (isDeployed(line, props.chosen)) this.addFunction(line, props)
    // No run starts on a machine whose functions are not there yet.
    new Map(unseen).get('start-run')?.node.addDependency(...opening)
    const { tenants, events } = props.chosen
    const called = new Map(unseen)
    const { deadLetters } = this
    addOwnCalls(this, called, { names, deadLetters, tenants, events })
    const guard = called.get('guard-release')
    if (guard !== undefined) new ReleaseGuard(this, 'Releases', { names, guard, deadLetters })
    const fire = called.get('fire-triggers')
    if (fire !== undefined && props.triggers.length > 0)
      new FiringTimes(this, 'Firing', { fire, names, deadLetters, triggers: props.triggers })
    const take = called.get('take-object')
    if (take !== undefined) new DroppedObjects(this, 'Drops', { take, names, deadLetters, triggers: props.triggers })
  }

  /** One that is told the machines' versions is made after them: they know it by its name. */
  private calledArn(line: FunctionLine, props: MachinesStackProps): string {
    return isTold(line) ? functionArn(this, props.names, line.name) : this.addFunction(line, props).functionArn
  }

  private addFunction(line: FunctionLine, props: MachinesStackProps, facts?: MachineFacts): IFunction {
    const { names, built, chosen } = props
    const { placeholder = '' } = line
    const of = placeholder === '' ? undefined : this.release
    const environment = functionEnvironment(line, this, names, chosen, facts)
    const { function: made } = new CatalogFunction(this, {
      line,
      names,
      bundle: join(built, 'functions', line.name),
      environment: of === undefined ? environment : { ...environment, RELEASE: of },
      chosen,
      versioned: of !== undefined,
      // Who a machine calls is called again by the machine; of a route the caller knows.
      ...(functionsIn('unseen').includes(line) ? { deadLetters: this.deadLetters } : {}),
    })
    // It is published because somebody asks for it.
    if (of !== undefined) this.versions.set(placeholder, made.currentVersion.version)
    return made
  }

  private addMachine(
    dag: DagMachineProps['dag'],
    common: Omit<DagMachineProps, 'dag' | 'definitions'>,
    { built }: MachinesStackProps,
  ): DagMachine {
    return new DagMachine(this, { ...common, dag, definitions: join(built, 'definitions') })
  }

  private addDeadLetters(names: Names): Queue {
    return new Queue(this, 'DeadLetters', {
      queueName: names.deadLetters,
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
      removalPolicy: RemovalPolicy.DESTROY,
    })
  }
}

function isTold(line: FunctionLine): boolean {
  return functionRights(line).includes('machine.deployed')
}

interface MachineRoleProps {
  readonly names: Names
  /** Of the functions machines call. */
  readonly functionArns: readonly string[]
  readonly calls: PolicyDocument | undefined
}

/**
 * What every machine runs as, deployed or inline: it invokes the functions of the catalog that have a placeholder, and
 * starts, watches and stops parts of machines, whose names alone hold a `_`. `calls`: what documents have AWS do.
 */
class MachineRole extends Construct {
  readonly role: Role

  constructor(scope: Construct, id: string, { names, functionArns, calls }: MachineRoleProps) {
    super(scope, id)
    const { region, account } = Stack.of(this)
    const allow = (actions: readonly string[], resources: readonly string[]) =>
      new PolicyDocument({ statements: [new PolicyStatement({ actions: [...actions], resources: [...resources] })] })
    const versions = functionsIn('machine').map(({ name }) => `${functionArn(Stack.of(this), names, name)}:*`)
    this.role = new Role(this, 'Role', {
      roleName: names.machineRole(region),
      assumedBy: new ServicePrincipal('states.amazonaws.com', {
        // Not on behalf of another account's machine.
        conditions: { StringEquals: { 'aws:SourceAccount': account } },
      }),
      inlinePolicies: {
        // With their versions, also where releases are not gradual any more: a run goes on with those it began with.
        functions: allow(['lambda:InvokeFunction'], [...functionArns, ...versions]),
        parts: partsOf(Stack.of(this), names),
        ...(calls === undefined ? {} : { calls }),
        logs: allow(LOG_DELIVERY, ['*']),
        traces: allow(TRACES, ['*']),
      },
    })
  }
}

/**
 * A machine too large for one starts its parts and waits for them (`startExecution.sync:2`). To wait, Step Functions keeps
 * one rule of its own an account and region. Source: Step Functions guide, "IAM policies for nested workflows".
 */
function partsOf(stack: Stack, names: Names): PolicyDocument {
  const name = names.machinePart('*', '*')
  const arn = (service: string, resource: string, resourceName: string, arnFormat = ArnFormat.COLON_RESOURCE_NAME) =>
    stack.formatArn({ service, resource, resourceName, arnFormat })
  const rule = arn('events', 'rule', RULE_OF_NESTED_RUNS, ArnFormat.SLASH_RESOURCE_NAME)
  const allowed: readonly (readonly [readonly string[], string])[] = [
    [['states:StartExecution'], arn('states', 'stateMachine', name)],
    [['states:DescribeExecution', 'states:StopExecution'], arn('states', 'execution', `${name}:*`)],
    [['events:PutTargets', 'events:PutRule', 'events:DescribeRule'], rule],
  ]
  const statements = allowed.map(
    ([actions, resource]) => new PolicyStatement({ actions: [...actions], resources: [resource] }),
  )
  return new PolicyDocument({ statements })
}

const RULE_OF_NESTED_RUNS = 'StepFunctionsGetEventsForStepFunctionsExecutionRule'

/** Step Functions hands its log to CloudWatch by log delivery, which has no resource level. */
const LOG_DELIVERY = [
  'logs:CreateLogDelivery',
  'logs:GetLogDelivery',
  'logs:UpdateLogDelivery',
  'logs:DeleteLogDelivery',
  'logs:ListLogDeliveries',
  'logs:PutResourcePolicy',
  'logs:DescribeResourcePolicies',
  'logs:DescribeLogGroups',
]

const TRACES = ['xray:PutTraceSegments', 'xray:PutTelemetryRecords', 'xray:GetSamplingRules', 'xray:GetSamplingTargets']

interface OwnCalls {
  readonly names: Names
  readonly deadLetters: IQueue
  readonly tenants: readonly string[]
  readonly events: ChosenRights['events']
}

/** Functions that time and events call, by name. */
function addOwnCalls(
  scope: Construct,
  functions: ReadonlyMap<string, IFunction>,
  { names, deadLetters, tenants, events }: OwnCalls,
): void {
  for (const { name, id, every } of RATES) {
    const called = functions.get(name)
    if (called !== undefined) new RateSchedule(scope, id, { called, every, deadLetters })
  }
  const reconcile = functions.get('reconcile')
  if (reconcile !== undefined) new StatusChange(scope, 'StatusChange', { names, reconcile, deadLetters })
  const receive = functions.get('receive-event')
  if (receive !== undefined && events !== undefined)
    new OutsideEvents(scope, 'Events', { receive, events, deadLetters })
  const indexGraph = functions.get('index-graph')
  if (indexGraph === undefined) return
  for (const tenant of tenants) {
    const id = tenant === MAIN_TENANT ? 'Index' : `Index-${tenant}`
    new IndexSchedule(scope, id, { indexGraph, deadLetters, tenant })
  }
}

/**
 * The sweep also finds executions whose end the status-change rule missed (docs/architecture.md, "Effects on the
 * world").
 */
const RATES = [
  { name: 'sweep', id: 'EachMinute', every: Duration.minutes(1) },
  { name: 'clear-machines', id: 'InlineMachines', every: Duration.hours(1) },
] as const

interface RateScheduleProps {
  readonly called: IFunction
  readonly every: Duration
  readonly deadLetters: IQueue
}

/** Calls a function with `{}` at a rate. A missed call is made good by the next: an old one is worth nothing. */
class RateSchedule extends Construct {
  constructor(scope: Construct, id: string, { called, every, deadLetters }: RateScheduleProps) {
    super(scope, id)
    const event = RuleTargetInput.fromObject({})
    const target = new LambdaFunction(called, {
      event,
      deadLetterQueue: deadLetters,
      maxEventAge: every,
      retryAttempts: 0,
    })
    new Rule(this, 'Rule', { schedule: Schedule.rate(every), targets: [target] })
  }
}

interface IndexScheduleProps {
  readonly indexGraph: IFunction
  readonly deadLetters: IQueue
  readonly tenant: string
}

/**
 * Of one tenant: indexes each minute what a writer put whose own call of index-graph was lost, and each day restarts the age of what
 * the graph needs (docs/adr/0045).
 */
class IndexSchedule extends Construct {
  constructor(scope: Construct, id: string, { indexGraph, deadLetters, tenant }: IndexScheduleProps) {
    super(scope, id)
    const target = (event: object, maxEventAge: Duration, retryAttempts: number) =>
      new LambdaFunction(indexGraph, {
        event: RuleTargetInput.fromObject(event),
        deadLetterQueue: deadLetters,
        maxEventAge,
        retryAttempts,
      })
    // The main one is whom a call without a tenant is about.
    const of = tenant === MAIN_TENANT ? {} : { tenant }
    // A missed one is made good by the next.
    const minute = target(of, Duration.minutes(1), 0)
    new Rule(this, 'Minute', { schedule: Schedule.rate(Duration.minutes(1)), targets: [minute] })
    const day = target({ ...of, keep: {} }, Duration.hours(12), 10)
    new Rule(this, 'Day', { schedule: Schedule.rate(Duration.days(1)), targets: [day] })
  }
}

interface OutsideEventsProps {
  readonly receive: IFunction
  readonly events: NonNullable<ChosenRights['events']>
  readonly deadLetters: IQueue
}

/** Hands over what the settings ask for of a bus, for blocks that wait. EventBridge may deliver an event more than once. */
class OutsideEvents extends Construct {
  constructor(scope: Construct, id: string, { receive, events, deadLetters }: OutsideEventsProps) {
    super(scope, id)
    const { bus, pattern } = events
    const rule = new Rule(this, 'Rule', {
      ...(bus === 'default' ? {} : { eventBus: busOf(this, bus) }),
      targets: [
        new LambdaFunction(receive, {
          deadLetterQueue: deadLetters,
          maxEventAge: Duration.hours(24),
          retryAttempts: 10,
        }),
      ],
      // A rule needs a pattern; the one of the settings takes its place, as it is written there.
      eventPattern: { source: ['none'] },
    })
    const written = rule.node.defaultChild
    if (written instanceof CfnRule) written.eventPattern = pattern
  }
}

function busOf(scope: Construct, bus: string): IEventBus {
  return bus.startsWith('arn:')
    ? EventBus.fromEventBusArn(scope, 'Bus', bus)
    : EventBus.fromEventBusName(scope, 'Bus', bus)
}

interface StatusChangeProps {
  readonly names: Names
  readonly reconcile: IFunction
  readonly deadLetters: IQueue
}

/**
 * Tells reconcile of an execution of our machines that failed, timed out or was aborted. Step Functions delivers these
 * events as well as it can; the sweep is what may be relied on (docs/architecture.md, "Effects on the world").
 */
class StatusChange extends Construct {
  constructor(scope: Construct, id: string, { names, reconcile, deadLetters }: StatusChangeProps) {
    super(scope, id)
    const machines = Stack.of(this).formatArn({
      service: 'states',
      resource: 'stateMachine',
      resourceName: names.machine(''),
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    })
    new Rule(this, 'Rule', {
      eventPattern: {
        source: ['aws.states'],
        detailType: ['Step Functions Execution Status Change'],
        detail: { status: ['FAILED', 'TIMED_OUT', 'ABORTED'], stateMachineArn: Match.prefix(machines) },
      },
      targets: [
        new LambdaFunction(reconcile, {
          deadLetterQueue: deadLetters,
          maxEventAge: Duration.hours(1),
          retryAttempts: 2,
        }),
      ],
    })
  }
}
