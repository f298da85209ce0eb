import type { Json } from '../text/json.ts'

export type Parameters = Readonly<Record<string, Json>>

/** What a role may do. */
export interface CallRight {
  readonly actions: readonly string[]
  readonly resources: readonly string[]
  readonly conditions?: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** Why it is as wide as it is, in the operator's words. */
  readonly reason?: string | undefined
}

/** Where it is deployed: what ARNs are made of. */
export interface DeployedAt {
  readonly partition: string
  readonly region: string
  readonly account: string
}

/** A call whose rights are made, and need not be stated. */
export interface Integration {
  /** Parameters that say on what it works: the settings give them, under `resources`, and no document. */
  readonly names: readonly string[]
  /** Further ones no document gives: they would say who it works as, or where. Paths with dots reach inside. */
  readonly reserved?: readonly string[]
  /** Of the machine's role, for one resource of the settings. */
  rights(parameters: Parameters, at: DeployedAt): readonly CallRight[]
  /** By which the service knows the same attempt again, where it can. */
  key?(parameters: Parameters, key: string): Parameters
  /** The parameters of the settings, where they do not simply stand beside the document's. */
  merge?(given: Parameters, fixed: Parameters): Parameters
}

const text = (parameters: Parameters, name: string) => String(parameters[name] ?? '')

/** An ARN as it was given, or the one of a name. */
function arn({ partition, region, account }: DeployedAt, given: string, service: string, path: string): string {
  return given.startsWith('arn:') ? given : `arn:${partition}:${service}:${region}:${account}:${path}${given}`
}

/** Step Functions hears of the end of what it waits for by a rule of its own. Source: its guide, "Integrating services". */
function ruleOf(name: string, at: DeployedAt): CallRight {
  const resources = [arn(at, name, 'events', 'rule/')]
  return { actions: ['events:PutTargets', 'events:PutRule', 'events:DescribeRule'], resources }
}

/** `https://sqs.REGION.amazonaws.com/ACCOUNT/NAME`; undefined: it is no URL of a queue. */
function arnOfQueue(url: string, { partition }: DeployedAt): string {
  const [, region = '', account = '', name = ''] =
    /^https:\/\/sqs\.([a-z0-9-]+)\.[a-z.]+\/(\d{12})\/([\w-]+(?:\.fifo)?)$/.exec(url) ?? []
  return `arn:${partition}:sqs:${region}:${account}:${name}`
}

/** Letters a service takes in a name, 80 at most. */
function asName(key: string): string {
  return key.replaceAll(/[^A-Za-z0-9-]/g, '-').slice(0, 80)
}

const onTable = (action: string): Integration => ({
  names: ['TableName'],
  rights: (parameters, at) => [
    { actions: [action], resources: [arn(at, text(parameters, 'TableName'), 'dynamodb', 'table/')] },
  ],
})

const onObjects = (action: string): Integration => ({
  names: ['Bucket'],
  reserved: ['ExpectedBucketOwner'],
  rights: (parameters, { partition }) => [
    { actions: [action], resources: [`arn:${partition}:s3:::${text(parameters, 'Bucket')}/*`] },
  ],
})

const execution = (parameters: Parameters, at: DeployedAt): readonly CallRight[] => {
  const name = text(parameters, 'StateMachineArn')
  return [
    { actions: ['states:StartExecution'], resources: [name] },
    {
      actions: ['states:DescribeExecution', 'states:StopExecution'],
      resources: [`${name.replace(':stateMachine:', ':execution:')}:*`],
    },
    ruleOf('StepFunctionsGetEventsForStepFunctionsExecutionRule', at),
  ]
}

/**
 * Calls of Step Functions whose rights are known (docs/native-calls.md, "Rights"). Source of actions and rules: the Step
 * Functions guide, "Integrating services", a page a service. Every other call states its rights in the settings.
 */
const INTEGRATIONS: Readonly<Record<string, Integration>> = {
  'lambda:invoke': {
    names: ['FunctionName'],
    reserved: ['InvocationType', 'Qualifier'],
    rights: (parameters) => [{ actions: ['lambda:InvokeFunction'], resources: [text(parameters, 'FunctionName')] }],
  },
  'sqs:sendMessage': {
    names: ['QueueUrl'],
    rights: (parameters, at) => [
      { actions: ['sqs:SendMessage'], resources: [arnOfQueue(text(parameters, 'QueueUrl'), at)] },
    ],
    key: (parameters, key) =>
      text(parameters, 'QueueUrl').endsWith('.fifo')
        ? { MessageDeduplicationId: asName(key), ...parameters }
        : parameters,
  },
  'sns:publish': {
    names: ['TopicArn'],
    reserved: ['TargetArn', 'PhoneNumber'],
    rights: (parameters) => [{ actions: ['sns:Publish'], resources: [text(parameters, 'TopicArn')] }],
    key: (parameters, key) =>
      text(parameters, 'TopicArn').endsWith('.fifo')
        ? { MessageDeduplicationId: asName(key), ...parameters }
        : parameters,
  },
  'events:putEvents': {
    names: ['EventBusName'],
    reserved: ['Entries.EventBusName', 'EndpointId'],
    rights: (parameters, at) => [
      { actions: ['events:PutEvents'], resources: [arn(at, text(parameters, 'EventBusName'), 'events', 'event-bus/')] },
    ],
    // The bus stands in each entry.
    merge: ({ Entries, ...given }, { EventBusName = '', ...fixed }) => ({
      ...given,
      ...fixed,
      Entries: (Array.isArray(Entries) ? Entries : []).map((entry) => ({ ...(entry as Parameters), EventBusName })),
    }),
  },
  'dynamodb:getItem': onTable('dynamodb:GetItem'),
  'dynamodb:putItem': onTable('dynamodb:PutItem'),
  'dynamodb:updateItem': onTable('dynamodb:UpdateItem'),
  'dynamodb:deleteItem': onTable('dynamodb:DeleteItem'),
  'aws-sdk:s3:getObject': onObjects('s3:GetObject'),
  'aws-sdk:s3:putObject': onObjects('s3:PutObject'),
  'bedrock:invokeModel': {
    names: ['ModelId'],
    reserved: ['Input', 'Output'],
    rights: (parameters, { partition, region }) => {
      const id = text(parameters, 'ModelId')
      const model = id.startsWith('arn:') ? id : `arn:${partition}:bedrock:${region}::foundation-model/${id}`
      return [{ actions: ['bedrock:InvokeModel'], resources: [model] }]
    },
  },
  'ecs:runTask.sync': {
    names: ['Cluster', 'TaskDefinition'],
    reserved: [
      'LaunchType',
      'CapacityProviderStrategy',
      'NetworkConfiguration',
      'EnableExecuteCommand',
      'Overrides.TaskRoleArn',
      'Overrides.ExecutionRoleArn',
    ],
    rights: (parameters, at) => {
      const cluster = arn(at, text(parameters, 'Cluster'), 'ecs', 'cluster/')
      const task = arn(at, text(parameters, 'TaskDefinition'), 'ecs', 'task-definition/')
      return [
        // Of a family without a revision AWS checks the revision it takes.
        { actions: ['ecs:RunTask'], resources: [/:\d+$/.test(task) ? task : `${task}:*`] },
        {
          actions: ['ecs:StopTask', 'ecs:DescribeTasks'],
          resources: [`${cluster.replace(':cluster/', ':task/')}/*`],
          conditions: { ArnEquals: { 'ecs:cluster': cluster } },
        },
        ruleOf('StepFunctionsGetEventsForECSTaskRule', at),
      ]
    },
  },
  'batch:submitJob.sync': {
    names: ['JobQueue', 'JobDefinition'],
    reserved: ['ContainerOverrides.ExecutionRoleArn', 'ContainerOverrides.JobRoleArn', 'SchedulingPriorityOverride'],
    rights: (parameters, at) => {
      const definition = arn(at, text(parameters, 'JobDefinition'), 'batch', 'job-definition/')
      const queue = arn(at, text(parameters, 'JobQueue'), 'batch', 'job-queue/')
      return [
        { actions: ['batch:SubmitJob'], resources: [queue, /:\d+$/.test(definition) ? definition : `${definition}:*`] },
        // A job has no name before it is submitted: neither has a resource level that could be said here.
        { actions: ['batch:DescribeJobs', 'batch:TerminateJob'], resources: ['*'] },
        ruleOf('StepFunctionsGetEventsForBatchJobsRule', at),
      ]
    },
  },
  'glue:startJobRun.sync': {
    names: ['JobName'],
    reserved: ['SecurityConfiguration'],
    rights: (parameters, at) => [
      {
        actions: ['glue:StartJobRun', 'glue:GetJobRun', 'glue:GetJobRuns', 'glue:BatchStopJobRun'],
        resources: [arn(at, text(parameters, 'JobName'), 'glue', 'job/')],
      },
    ],
  },
  'states:startExecution.sync:2': {
    names: ['StateMachineArn'],
    reserved: ['TraceHeader'],
    rights: execution,
    key: (parameters, key) => ({ Name: asName(key), ...parameters }),
  },
  'states:startExecution': {
    names: ['StateMachineArn'],
    reserved: ['TraceHeader'],
    rights: (parameters) => [{ actions: ['states:StartExecution'], resources: [text(parameters, 'StateMachineArn')] }],
    key: (parameters, key) => ({ Name: asName(key), ...parameters }),
  },
}

export function findIntegration(call: string): Integration | undefined {
  return Object.hasOwn(INTEGRATIONS, call) ? INTEGRATIONS[call] : undefined
}

/** The first parameter a document gives that is the operator's to give; undefined: none is. */
export function takenParameter(call: string, given: Parameters, fixed: Parameters = {}): string | undefined {
  const { names = [], reserved = [] } = findIntegration(call) ?? {}
  return [...new Set([...names, ...reserved, ...Object.keys(fixed)])].find((path) => isGiven(given, path.split('.')))
}

function isGiven(value: Json | undefined, [name, ...rest]: readonly string[]): boolean {
  if (name === undefined) return value !== undefined
  if (Array.isArray(value)) return value.some((item) => isGiven(item, [name, ...rest]))
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return false
  return isGiven((value as Parameters)[name], rest)
}

/** What a call is given in the end: the document's parameters, the operator's, and the attempt's key where it takes one. */
export function parametersOfCall(call: string, given: Parameters, fixed: Parameters, key: string): Parameters {
  const { merge = (own: Parameters, operators: Parameters) => ({ ...own, ...operators }), key: withKey } =
    findIntegration(call) ?? {}
  const merged = merge(given, fixed)
  return withKey?.(merged, key) ?? merged
}
