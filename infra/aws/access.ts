import { type ArnComponents, ArnFormat, type Stack } from 'aws-cdk-lib'
import { PolicyStatement } from 'aws-cdk-lib/aws-iam'
import { RUN_INDEXES } from '../../shared/runs/table.ts'
import { type AskedModel, modelStatements } from './model-access.ts'
import type { Names } from './names.ts'
import type { Right } from './right.ts'

/**
 * The IAM statements of one right: actions spelled out, resources by name. A `*` in a resource stands for a name only a
 * run makes: an object's hash, a run id, the hash of an inline document, the number of a machine's version. Without
 * secrets in the settings `secrets.read` is no right at all, nor is `models.ask` without models of Bedrock (those of
 * `research.` are of its provider alone, as is `embeddings.secrets` of theirs), nor `shell.run` where no shell-gate
 * stands, nor anything of Slack without a workspace.
 */
export function statementsOf(right: Right, stack: Stack, names: Names, chosen: Chosen): PolicyStatement[] {
  if (isByChoice(right)) return BY_CHOICE[right](chosen, stack)
  if (right === 'shell.run' && !chosen.shell) return []
  if (right === 'outbox.slack' && chosen.slack === undefined) return []
  return STATEMENTS[right].map(({ on, actions, conditions }) => {
    const resources = [arnOf(stack, names, on)]
    return new PolicyStatement({
      actions: [...actions],
      resources,
      ...(conditions === undefined ? {} : { conditions }),
    })
  })
}

/** What asking providers takes. */
interface Asked {
  /** ARNs of the secrets that hold keys of providers. */
  readonly secrets: readonly string[]
  readonly models: readonly AskedModel[]
}

/** What the stage's settings decide of rights. */
export interface Chosen extends Asked {
  /** Of the one provider that answers the research chain, and of its one model. */
  readonly research: Asked
  /** ARN of the secret that holds the key of the provider of embeddings, where there is one. */
  readonly embeddings: readonly string[]
  /** Shell gates are on. */
  readonly shell: boolean
  /** ARNs of Slack's token and signing secrets; absent = no workspace is configured. */
  readonly slack?: { readonly token: string; readonly signing: readonly string[] } | undefined
}

/** Rights on what the settings name. */
const BY_CHOICE = {
  'secrets.read': ({ secrets }: Chosen) => secrets.map(secretStatement),
  'models.ask': ({ models }: Chosen, stack: Stack) => askedStatements(models, stack),
  'research.secrets': ({ research }: Chosen) => research.secrets.map(secretStatement),
  'research.models': ({ research }: Chosen, stack: Stack) => askedStatements(research.models, stack),
  'embeddings.secrets': ({ embeddings }: Chosen) => embeddings.map(secretStatement),
  'slack.verify': ({ slack }: Chosen) => (slack?.signing ?? []).map(secretStatement),
  'slack.call': ({ slack }: Chosen) => (slack === undefined ? [] : [secretStatement(slack.token)]),
} as const
type ByChoice = keyof typeof BY_CHOICE

function isByChoice(right: Right): right is ByChoice {
  return Object.hasOwn(BY_CHOICE, right)
}

function askedStatements(models: readonly AskedModel[], stack: Stack): PolicyStatement[] {
  return models.flatMap((model) => modelStatements(model, stack))
}

/** Exactly this one: the settings take whole ARNs only. */
function secretStatement(arn: string): PolicyStatement {
  const action = arn.split(':')[2] === 'ssm' ? 'ssm:GetParameter' : 'secretsmanager:GetSecretValue'
  return new PolicyStatement({ actions: [action], resources: [arn] })
}

interface Allowed {
  readonly on: ResourceName
  readonly actions: readonly string[]
  readonly conditions?: Record<string, Record<string, string | string[]>>
}

/** The key of the cursors, made at the first list: an item of the tenant, not of a run. */
const CURSOR_KEY: readonly Allowed[] = [
  {
    on: 'table',
    actions: ['dynamodb:PutItem'],
    conditions: { 'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': 'T#main' } },
  },
]

/** The partitions of entities, of the list of them, and of what leads from the graph to its index. */
const OF_GRAPH = { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['T#main#G', 'T#main#G#*'] } }
const OF_MANIFEST = { 'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': 'T#main#G' } }

const STATEMENTS: Readonly<Record<Exclude<Right, ByChoice>, readonly Allowed[]>> = {
  'runs.read': [{ on: 'table', actions: ['dynamodb:GetItem', 'dynamodb:BatchGetItem', 'dynamodb:Query'] }],
  'runs.list': [
    { on: 'runsByTime', actions: ['dynamodb:Query'] },
    { on: 'table', actions: ['dynamodb:GetItem', 'dynamodb:BatchGetItem'] },
    ...CURSOR_KEY,
  ],
  'runs.inbox': [{ on: 'runsInbox', actions: ['dynamodb:Query'] }, ...CURSOR_KEY],
  'runs.due': [{ on: 'runsDue', actions: ['dynamodb:Query'] }],
  'runs.write': [{ on: 'table', actions: ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'] }],
  // Places in the queue of starts, which lie in a partition of their own: nothing else can be deleted.
  'runs.dequeue': [
    {
      on: 'table',
      actions: ['dynamodb:DeleteItem'],
      conditions: { 'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': 'T#main#QUEUE' } },
    },
  ],
  // Clicks that came already, in partitions of their own: who is called by anybody can write nothing else.
  'runs.note': [
    {
      on: 'table',
      actions: ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'],
      conditions: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': 'T#main#I#slack#*' } },
    },
  ],
  // Requests by caller and minute, in a partition of their own.
  'runs.count': [
    {
      on: 'table',
      actions: ['dynamodb:GetItem', 'dynamodb:UpdateItem'],
      conditions: { 'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': 'T#main#RATE' } },
    },
  ],
  // ListBucket makes a missing object 404; without it S3 says 403.
  'objects.get': [
    { on: 'objects', actions: ['s3:GetObject'] },
    { on: 'bucket', actions: ['s3:ListBucket'] },
  ],
  'objects.put': [{ on: 'objects', actions: ['s3:PutObject'] }],
  'graph.read': [
    { on: 'table', actions: ['dynamodb:GetItem', 'dynamodb:BatchGetItem', 'dynamodb:Query'], conditions: OF_GRAPH },
  ],
  'graph.list': [{ on: 'runsByTime', actions: ['dynamodb:Query'], conditions: OF_GRAPH }],
  'graph.write': [
    {
      on: 'table',
      actions: [
        'dynamodb:GetItem',
        'dynamodb:BatchGetItem',
        'dynamodb:PutItem',
        'dynamodb:BatchWriteItem',
        'dynamodb:DeleteItem',
      ],
      conditions: OF_GRAPH,
    },
  ],
  // What is indexed, the log of what is left, the manifest, and the snapshot it names.
  'index.publish': [
    { on: 'table', actions: ['dynamodb:GetItem', 'dynamodb:BatchGetItem', 'dynamodb:Query'], conditions: OF_GRAPH },
    { on: 'table', actions: ['dynamodb:PutItem', 'dynamodb:DeleteItem'], conditions: OF_MANIFEST },
    { on: 'runsByTime', actions: ['dynamodb:Query'], conditions: OF_GRAPH },
    { on: 'objects', actions: ['s3:GetObject'] },
    { on: 'snapshots', actions: ['s3:GetObject', 's3:PutObject'] },
    { on: 'bucket', actions: ['s3:ListBucket'] },
  ],
  // The manifest, and the snapshot it names.
  'search.read': [
    { on: 'table', actions: ['dynamodb:GetItem'], conditions: OF_MANIFEST },
    { on: 'snapshots', actions: ['s3:GetObject'] },
    { on: 'bucket', actions: ['s3:ListBucket'] },
  ],
  // AWS checks these against the machine's ARN, though its policy editor offers only *.
  'machine.answer': [{ on: 'machines', actions: ['states:SendTaskSuccess', 'states:SendTaskFailure'] }],
  'machine.ensure': [
    { on: 'inlineMachines', actions: ['states:CreateStateMachine', 'states:UpdateStateMachine', 'states:TagResource'] },
    {
      on: 'machineRole',
      actions: ['iam:PassRole'],
      conditions: { StringEquals: { 'iam:PassedToService': 'states.amazonaws.com' } },
    },
  ],
  // Versions stand in its environment: no call is made.
  'machine.deployed': [],
  // Its name is made of the stage and the document's hash.
  'machine.named': [],
  'machine.start': [{ on: 'machines', actions: ['states:StartExecution'] }],
  'machine.describe': [{ on: 'executions', actions: ['states:DescribeExecution'] }],
  'machine.stop': [{ on: 'executions', actions: ['states:StopExecution'] }],
  'outbox.nudge': [{ on: 'sendOutbox', actions: ['lambda:InvokeFunction'] }],
  'outbox.start': [{ on: 'startRun', actions: ['lambda:InvokeFunction'] }],
  'outbox.graph': [{ on: 'indexGraph', actions: ['lambda:InvokeFunction'] }],
  'outbox.slack': [{ on: 'slackWork', actions: ['lambda:InvokeFunction'] }],
  'http.request': [{ on: 'netGate', actions: ['lambda:InvokeFunction'] }],
  'shell.run': [{ on: 'shellGate', actions: ['lambda:InvokeFunction'] }],
}

type ResourceName = keyof typeof RESOURCES

function arnOf(stack: Stack, names: Names, on: ResourceName): string {
  return stack.formatArn(RESOURCES[on](names, stack))
}

const table = (resourceName: string): ArnComponents => ({ service: 'dynamodb', resource: 'table', resourceName })
const s3 = ({ bucket }: Names, { account, region }: Stack): ArnComponents => ({
  service: 's3',
  region: '',
  account: '',
  resource: bucket(account, region),
})
const colons = (service: string, resource: string, resourceName: string): ArnComponents => ({
  service,
  resource,
  resourceName,
  arnFormat: ArnFormat.COLON_RESOURCE_NAME,
})

const RESOURCES = {
  table: (names: Names) => table(names.table),
  runsByTime: (names: Names) => table(`${names.table}/index/${RUN_INDEXES.runs.name}`),
  runsInbox: (names: Names) => table(`${names.table}/index/${RUN_INDEXES.approvals.name}`),
  runsDue: (names: Names) => table(`${names.table}/index/${RUN_INDEXES.due.name}`),
  bucket: s3,
  objects: (names: Names, stack: Stack) => ({ ...s3(names, stack), resourceName: 'main/objects/*' }),
  snapshots: (names: Names, stack: Stack) => ({ ...s3(names, stack), resourceName: 'main/index/*' }),
  machines: (names: Names) => colons('states', 'stateMachine', names.machine('*')),
  inlineMachines: (names: Names) => colons('states', 'stateMachine', `${names.inlineMachines}*`),
  executions: (names: Names) => colons('states', 'execution', `${names.machine('*')}:*`),
  machineRole: (names: Names, { region }: Stack) => ({
    service: 'iam',
    region: '',
    resource: 'role',
    resourceName: names.machineRole(region),
  }),
  sendOutbox: (names: Names) => colons('lambda', 'function', names.function('send-outbox')),
  startRun: (names: Names) => colons('lambda', 'function', names.function('start-run')),
  indexGraph: (names: Names) => colons('lambda', 'function', names.function('index-graph')),
  slackWork: (names: Names) => colons('lambda', 'function', names.function('slack-work')),
  netGate: (names: Names) => colons('lambda', 'function', names.function('net-gate')),
  shellGate: (names: Names) => colons('lambda', 'function', names.function('shell-gate')),
} as const satisfies Readonly<Record<string, (names: Names, stack: Stack) => ArnComponents>>

/** ARN of a function of the catalog, made of its name: any stack may say it. */
export function functionArn(stack: Stack, names: Names, name: string): string {
  return stack.formatArn(colons('lambda', 'function', names.function(name)))
}
