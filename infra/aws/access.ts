import { type ArnComponents, ArnFormat, type Stack } from 'aws-cdk-lib'
import { PolicyStatement } from 'aws-cdk-lib/aws-iam'
import { bedrockModel } from '../../shared/providers/settings.ts'
import { anchorPrefix } from '../../shared/runs/anchors.ts'
import { RUN_INDEXES } from '../../shared/runs/dynamodb-table.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import { eventSource } from '../../shared/webhooks/buses.ts'
import { type AskedModel, modelsBehind } from './bedrock-models.ts'
import type { Right } from './grants.ts'
import type { Names } from './names.ts'

/**
 * The IAM statements of one right: actions spelled out, resources by name. A `*` in a resource stands for a name only a
 * run makes: an object's hash, a run id, the hash of an inline document, the number of a machine's version. Without
 * secrets in the settings `secrets.read` is no right at all, nor is `models.ask` without models of Bedrock (those of
 * `research.` are of its provider alone, as those of `embeddings.` and `judge.` are of theirs), nor `shell.run` where no shell-gate
 * stands, nor anything of Slack without a workspace, nor a count of spending without caps, nor a nudge for webhooks and buses where there are none.
 */
export function rightStatements(right: Right, stack: Stack, names: Names, chosen: ChosenRights): PolicyStatement[] {
  if (isByChoice(right)) return BY_CHOICE[right](chosen, stack, names)
  if (ASKED_FOR[right]?.(chosen) === false) return []
  const { tenants, slack } = chosen
  const allowed: Readonly<Record<Exclude<Right, ByChoice>, readonly Allowed[]>> = STATEMENTS
  return allowed[right].map(({ on, actions, conditions }) => {
    const resources = [...resourceArns(stack, names, on, tenants)]
    return new PolicyStatement({
      actions: [...actions],
      resources,
      ...(conditions === undefined ? {} : { conditions: conditions({ tenants, slack }) }),
    })
  })
}

const isAnchoring = ({ anchors }: ChosenRights) => anchors === true
const countsSpending = ({ spending }: ChosenRights) => spending === true
const hasBuses = ({ buses = [] }: ChosenRights) => buses.length > 0

/** Rights that only some stages have: whether the settings of this one ask for what they are for. */
const ASKED_FOR: Partial<Record<Right, (chosen: ChosenRights) => boolean>> = {
  'shell.run': ({ shell }) => shell,
  'outbox.anchor': isAnchoring,
  'anchors.put': isAnchoring,
  'anchors.read': isAnchoring,
  'live.forget': ({ live }) => live === true,
  'spending.read': countsSpending,
  'spending.count': countsSpending,
  'outbox.slack': ({ slack }) => slack !== undefined,
  'machine.takeBack': ({ releases }) => releases === true,
  'outbox.bus': hasBuses,
  'webhooks.nudge': (chosen) => (chosen.webhooks ?? []).length > 0 || hasBuses(chosen),
}

/** What asking providers takes. */
interface Asked {
  /** ARNs of the secrets that hold keys of providers. */
  readonly secrets: readonly string[]
  readonly models: readonly AskedModel[]
}

/** What the stage's settings decide of rights. */
export interface ChosenRights extends Asked {
  /** Whose items and objects there are: rights end at theirs. */
  readonly tenants: readonly string[]
  /** Of the one provider that answers the research chain, and of its one model. */
  readonly research: Asked
  /** ARN of the secret that holds the key of the provider of embeddings, where there is one. */
  readonly embeddings: readonly string[]
  /** Of the provider and model that may doubt an answer; absent = there is none. */
  readonly judge?: Asked | undefined
  /** Shell gates are on. */
  readonly shell: boolean
  /** No document comes with a request (`authoring: deployed_only`): machines are made by deployments alone. */
  readonly closed?: boolean
  /** Executions are kept free for what must go on; absent = nothing but shell gates has its own. */
  readonly reserved?: boolean
  /** Ends of hash chains are put into a bucket with Object Lock; absent = there is none. */
  readonly anchors?: boolean
  /** What models say is told while they say it; absent = it is not. */
  readonly live?: boolean
  /** Functions are in subnets of the operator's; absent = in none of anybody's. */
  readonly network?: boolean
  /** There are caps of spending; absent = nothing is counted. */
  readonly spending?: boolean
  /** ARN of the customer's key that data is under; absent = AWS's own keys. */
  readonly key?: string | undefined
  /** ARNs of the secrets webhooks are signed with, and of headers of spans; absent = there are none. */
  readonly webhooks?: readonly string[]
  /** Buses that events are put on, each by name or ARN; absent = there are none. */
  readonly buses?: readonly string[]
  /** ARNs of the secrets that senders of webhooks share; absent = there are none. */
  readonly hooks?: readonly string[]
  /** ARNs of the secrets that hold keys of services; absent = there are none. */
  readonly services?: readonly string[]
  /** ARNs of the secrets that hold keys of MCP servers; absent = there are none. */
  readonly mcp?: readonly string[]
  readonly telemetry?: readonly string[]
  /** Names of the functions of steps, as they are for main; absent = there are none. */
  readonly steps?: readonly string[]
  /** Names of containers that documents run; absent = none. */
  readonly containers?: readonly string[]
  /** Which events of EventBridge are taken, and from which bus; absent = none. */
  readonly events?: Pick<NonNullable<Settings['events']>, 'bus' | 'pattern'> | undefined
  /** Releases are gradual (release.ts); absent = a deployment replaces the code at once. */
  readonly releases?: boolean
  /** Documents start runs by themselves; absent = none does. */
  readonly triggers?: boolean
  /** Documents wait for what is dropped; absent = none does. */
  readonly drops?: boolean
  /** Callers come with a bearer credential; absent = they are signed by IAM. */
  readonly auth?: 'token' | 'jwt' | undefined
  /** ARNs of Slack's token and signing secrets, and whose the workspace is; absent = none is configured. */
  readonly slack?: { readonly tenant: string; readonly token: string; readonly signing: readonly string[] } | undefined
}

/** Rights on what the settings name. */
const BY_CHOICE = {
  'secrets.read': ({ secrets }: ChosenRights) => secrets.map(secretStatement),
  'models.ask': ({ models }: ChosenRights, stack: Stack) => askedStatements(models, stack),
  'research.secrets': ({ research }: ChosenRights) => research.secrets.map(secretStatement),
  'research.models': ({ research }: ChosenRights, stack: Stack) => askedStatements(research.models, stack),
  'embeddings.secrets': ({ embeddings }: ChosenRights) => embeddings.map(secretStatement),
  'judge.secrets': ({ judge }: ChosenRights) => (judge?.secrets ?? []).map(secretStatement),
  'judge.models': ({ judge }: ChosenRights, stack: Stack) => askedStatements(judge?.models ?? [], stack),
  'slack.verify': ({ slack }: ChosenRights) => (slack?.signing ?? []).map(secretStatement),
  'webhooks.sign': ({ webhooks = [] }: ChosenRights) => webhooks.map(secretStatement),
  'buses.put': ({ buses = [] }: ChosenRights, stack: Stack, names: Names) =>
    buses.map((bus) => busStatement(bus, stack, names)),
  'services.key': ({ services = [] }: ChosenRights) => services.map(secretStatement),
  'hooks.verify': ({ hooks = [] }: ChosenRights) => hooks.map(secretStatement),
  'mcp.key': ({ mcp = [] }: ChosenRights) => mcp.map(secretStatement),
  'telemetry.secrets': ({ telemetry = [] }: ChosenRights) => telemetry.map(secretStatement),
  // One name a step, however many tenants have a function of it: IAM limits what a role says.
  'steps.start': ({ steps = [], tenants }: ChosenRights, stack: Stack) =>
    steps.flatMap((name) => [
      ...startStatements(stack, name),
      ...(tenants.length > 1 ? startStatements(stack, `${name}-*`) : []),
    ]),
  'steps.collect': ({ containers = [], tenants }: ChosenRights, stack: Stack, names: Names) =>
    containers.length === 0
      ? []
      : // ListBucket makes what a container did not leave 404; without it S3 says 403.
        [
          exchangeStatement(tenants.map((tenant) => bucketFolder(stack, names, `${tenant}/containers`))),
          new PolicyStatement({ actions: ['s3:ListBucket'], resources: [stack.formatArn(s3(names, stack))] }),
        ],
  'slack.call': ({ slack }: ChosenRights) => (slack === undefined ? [] : [secretStatement(slack.token)]),
} as const
type ByChoice = keyof typeof BY_CHOICE

function isByChoice(right: Right): right is ByChoice {
  return Object.hasOwn(BY_CHOICE, right)
}

function askedStatements(models: readonly AskedModel[], stack: Stack): PolicyStatement[] {
  return models.flatMap((model) => modelStatements(model, stack))
}

/** What containers find and leave in these folders of the bucket: of no other object. */
export function exchangeStatement(folders: readonly string[]): PolicyStatement {
  return new PolicyStatement({ actions: ['s3:GetObject', 's3:PutObject'], resources: [...folders] })
}

/** Everything below a folder of the bucket of objects, as a resource of IAM. */
export function bucketFolder(stack: Stack, names: Names, folder: string): string {
  return stack.formatArn({ ...s3(names, stack), resourceName: `${folder}/*` })
}

/** Any version of it: a run goes on with the code it began with. Which those are is asked of Lambda. */
function startStatements(stack: Stack, resourceName: string): PolicyStatement[] {
  const arn = stack.formatArn({
    service: 'lambda',
    resource: 'function',
    resourceName,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  })
  return [
    new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [`${arn}:*`] }),
    new PolicyStatement({ actions: ['lambda:ListVersionsByFunction'], resources: [arn] }),
  ]
}

/** Events of this stage alone: under another name whoever listens would take them for somebody else's. */
function busStatement(bus: string, stack: Stack, { stage }: Names): PolicyStatement {
  const arn = stack.formatArn({ service: 'events', resource: 'event-bus', resourceName: bus })
  return new PolicyStatement({
    actions: ['events:PutEvents'],
    resources: [bus.startsWith('arn:') ? bus : arn],
    conditions: { StringEquals: { 'events:source': eventSource(stage) } },
  })
}

/** Exactly this one: the settings take whole ARNs only. */
export function secretStatement(arn: string): PolicyStatement {
  const action = arn.split(':')[2] === 'ssm' ? 'ssm:GetParameter' : 'secretsmanager:GetSecretValue'
  return new PolicyStatement({ actions: [action], resources: [arn] })
}

/** ARN of a function of the catalog, made of its name: any stack may say it. */
export function functionArn(stack: Stack, names: Names, name: string): string {
  const resourceName = names.function(name)
  const arnFormat = ArnFormat.COLON_RESOURCE_NAME
  return stack.formatArn({ service: 'lambda', resource: 'function', resourceName, arnFormat })
}

/**
 * Asking exactly this model. A profile answers from models of several regions, which must be allowed too, but only for
 * calls that come through the profile. Converse is authorised as InvokeModel, its stream as the other.
 */
function modelStatements({ id, region: asked }: AskedModel, stack: Stack): PolicyStatement[] {
  const model = bedrockModel(id)
  const region = asked ?? stack.region
  const arn = (rest: string) => `arn:${stack.partition}:bedrock:${rest}`
  if (model.kind === 'foundation') return [asking([arn(`${region}::foundation-model/${model.id}`)])]
  const named = model.kind === 'arn' ? model.arn : arn(`${region}:${stack.account}:inference-profile/${model.id}`)
  return [asking([named]), ...modelsBehind(id).map((behind) => behindProfile(arn(behind), named))]
}

const ACTIONS = ['bedrock:InvokeModel', 'bedrock:InvokeModelWithResponseStream']

function asking(resources: string[]): PolicyStatement {
  return new PolicyStatement({ actions: [...ACTIONS], resources })
}

function behindProfile(model: string, profile: string): PolicyStatement {
  const conditions = { StringEquals: { 'bedrock:InferenceProfileArn': profile } }
  return new PolicyStatement({ actions: [...ACTIONS], resources: [model], conditions })
}

/** A condition of a policy, by the tenants there are and whose the workspace of Slack is. */
type Condition = (of: Pick<ChosenRights, 'tenants' | 'slack'>) => Record<string, Record<string, string | string[]>>

/** Exactly these partitions of each tenant, by what follows its name. */
function partitions(...ends: readonly string[]): Condition {
  return ({ tenants }) => ({ 'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': keysOf(tenants, ends) } })
}

/** Partitions of each tenant whose names are like these. */
function partitionsLike(...ends: readonly string[]): Condition {
  return ({ tenants }) => ({ 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': keysOf(tenants, ends) } })
}

/** A single one is no list: so it was before there were several tenants. */
function keysOf(tenants: readonly string[], ends: readonly string[]): string | string[] {
  const [key = '', ...more] = tenants.flatMap((tenant) => ends.map((end) => `T#${tenant}${end}`))
  return more.length === 0 ? key : [key, ...more]
}

/** Some actions on one kind of resource. */
interface Allowed {
  readonly on: ResourceName
  readonly actions: readonly string[]
  readonly conditions?: Condition
}

const OF_TENANT = partitions('')

/** Items of the tenant, and the further shards of its large pools of leases. */
const OF_LEASES = partitionsLike('', '#LEASES#*')

/** The key of the cursors, made at the first list: an item of the tenant, not of a run. */
const CURSOR_KEY: readonly Allowed[] = [
  {
    on: 'table',
    actions: ['dynamodb:PutItem'],
    conditions: OF_TENANT,
  },
]

/** Webhooks that were given up, in a partition of their own. */
const OF_WEBHOOKS = partitions('#WEBHOOKS')

/** When machines of inline documents were used, in a partition of their own. */
const OF_MACHINES = () => ({ 'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': 'MACHINES' } })

/** Everything of the tenants, and so no token: whatever runs do, they cannot make who calls. */
const OF_RUNS = partitionsLike('', '#*')

/** Of the tenant whose workspace it is. */
const OF_CLICKS: Condition = ({ slack, ...of }) =>
  partitionsLike('#I#slack#*')({ ...of, tenants: slack ? [slack.tenant] : [] })

const OF_SPENDING = () => ({ 'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': 'SPENDING' } })

const OF_TOKENS = () => ({ 'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': 'TOKENS' } })

/** Of triggers and their firings, and of what they owe. */
const OF_TRIGGERS = partitionsLike('#TR#*', '#OWED')

/** The partitions of entities, of the list of them, and of what leads from the graph to its index. */
const OF_GRAPH = partitionsLike('#G', '#G#*')
const OF_MANIFEST = partitions('#G')

/** Aliases of deployed machines say their versions. */
const VERSIONS: Allowed = { on: 'machines', actions: ['states:DescribeStateMachineAlias'] }

/** What each right allows; those on what the settings name are in access.ts. */
const STATEMENTS = {
  'runs.get': onItems('GetItem', OF_RUNS),
  'runs.getAll': onItems('BatchGetItem', OF_RUNS),
  'runs.query': onItems('Query', OF_RUNS),
  'runs.put': onItems('PutItem', OF_RUNS),
  'runs.update': onItems('UpdateItem', OF_RUNS),
  'runs.list': [
    { on: 'runsByTime', actions: ['dynamodb:Query'] },
    { on: 'table', actions: ['dynamodb:GetItem', 'dynamodb:BatchGetItem'], conditions: OF_RUNS },
    ...CURSOR_KEY,
  ],
  'runs.inbox': [{ on: 'runsInbox', actions: ['dynamodb:Query'] }, ...CURSOR_KEY],
  'runs.dead': [
    { on: 'table', actions: ['dynamodb:Query'], conditions: OF_WEBHOOKS },
    { on: 'table', actions: ['dynamodb:GetItem'], conditions: OF_TENANT },
    ...CURSOR_KEY,
  ],
  'runs.due': [{ on: 'runsDue', actions: ['dynamodb:Query'] }],
  // Names of searches, in a partition of their own.
  'runs.unview': [{ on: 'table', actions: ['dynamodb:DeleteItem'], conditions: partitions('#VIEWS') }],
  // Places in the queue of starts, which lie in a partition of their own: nothing else can be deleted.
  'runs.dequeue': [
    {
      on: 'table',
      actions: ['dynamodb:DeleteItem'],
      conditions: partitions('#QUEUE'),
    },
  ],
  // Items of runs that are erased, what they are found by, kept results of theirs, and messages of theirs that nobody took.
  // One name a tenant and not five: who erases may write to all of these anyway, and IAM limits what a role says.
  'runs.erase': [{ on: 'table', actions: ['dynamodb:DeleteItem'], conditions: partitionsLike('#*') }],
  // Clicks that came already, in partitions of their own: who is called by anybody can write nothing else.
  'runs.note': [{ on: 'table', actions: ['dynamodb:GetItem', 'dynamodb:PutItem'], conditions: OF_CLICKS }],
  'runs.noteEnd': [{ on: 'table', actions: ['dynamodb:UpdateItem'], conditions: OF_CLICKS }],
  // Requests by caller and minute, in a partition of their own.
  'runs.count': [
    {
      on: 'table',
      actions: ['dynamodb:GetItem', 'dynamodb:UpdateItem'],
      conditions: partitions('#RATE'),
    },
  ],
  // Bytes a tenant stored, in a partition of their own.
  'runs.stored': [
    {
      on: 'table',
      actions: ['dynamodb:Query', 'dynamodb:UpdateItem'],
      conditions: partitions('#STORED'),
    },
  ],
  // Places of open streams, items of the tenant: nothing of a run can be written.
  'runs.lease': [
    {
      on: 'table',
      actions: ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:Query', 'dynamodb:UpdateItem'],
      conditions: OF_LEASES,
    },
  ],
  // Waits that are over, in the partitions of what they waited for: nothing else can be deleted.
  // What models say, in partitions of its own, where it is told while they say it: nothing else can be deleted.
  'live.forget': [{ on: 'table', actions: ['dynamodb:DeleteItem'], conditions: partitionsLike('#L#*') }],
  'waits.forget': [{ on: 'table', actions: ['dynamodb:DeleteItem'], conditions: partitionsLike('#W#*') }],
  'triggers.get': onItems('GetItem', OF_TRIGGERS),
  'triggers.query': onItems('Query', OF_TRIGGERS),
  'triggers.put': onItems('PutItem', OF_TRIGGERS),
  // What leads to firings that are over: the firings themselves nobody deletes.
  'triggers.forget': onItems('DeleteItem', partitions('#OWED')),
  // One item that health is probed with, in a partition of its own.
  'health.probe': [
    {
      on: 'table',
      actions: ['dynamodb:GetItem', 'dynamodb:PutItem'],
      conditions: () => ({ 'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': 'HEALTH' } }),
    },
  ],
  // What calls of models used, by cap and period, in a partition of their own: caps may count several tenants.
  'spending.read': [{ on: 'table', actions: ['dynamodb:GetItem'], conditions: OF_SPENDING }],
  'spending.count': [{ on: 'table', actions: ['dynamodb:GetItem', 'dynamodb:UpdateItem'], conditions: OF_SPENDING }],
  // Bearer tokens, in a partition of their own: who calls is asked before the tenant is known.
  'tokens.read': [{ on: 'table', actions: ['dynamodb:GetItem'], conditions: OF_TOKENS }],
  'tokens.list': [{ on: 'table', actions: ['dynamodb:Query'], conditions: OF_TOKENS }],
  'tokens.put': [{ on: 'table', actions: ['dynamodb:GetItem', 'dynamodb:PutItem'], conditions: OF_TOKENS }],
  'tokens.revoke': [{ on: 'table', actions: ['dynamodb:UpdateItem'], conditions: OF_TOKENS }],
  // ListBucket makes a missing object 404; without it S3 says 403.
  'objects.get': [
    { on: 'objects', actions: ['s3:GetObject'] },
    { on: 'bucket', actions: ['s3:ListBucket'] },
  ],
  'objects.put': [{ on: 'objects', actions: ['s3:PutObject'] }],
  // By version: a deletion that only hides a body would leave it readable.
  'objects.erase': [
    { on: 'objects', actions: ['s3:DeleteObjectVersion'] },
    { on: 'bucket', actions: ['s3:ListBucketVersions'] },
  ],
  'graph.get': onItems('GetItem', OF_GRAPH),
  'graph.getAll': onItems('BatchGetItem', OF_GRAPH),
  'graph.query': onItems('Query', OF_GRAPH),
  'graph.put': onItems('PutItem', OF_GRAPH),
  'graph.putAll': onItems('BatchWriteItem', OF_GRAPH),
  'graph.delete': onItems('DeleteItem', OF_GRAPH),
  'graph.list': [{ on: 'runsByTime', actions: ['dynamodb:Query'], conditions: OF_GRAPH }],
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
  // AWS checks it against the machine's ARN, though its policy editor offers only *. Nobody answers with an error.
  'machine.answer': [{ on: 'machines', actions: ['states:SendTaskSuccess'] }],
  'machine.beat': [{ on: 'machines', actions: ['states:SendTaskHeartbeat'] }],
  'machine.ensure': [
    VERSIONS,
    { on: 'table', actions: ['dynamodb:GetItem', 'dynamodb:Query', 'dynamodb:UpdateItem'], conditions: OF_MACHINES },
    { on: 'inlineMachines', actions: ['states:CreateStateMachine', 'states:UpdateStateMachine', 'states:TagResource'] },
    {
      on: 'machineRole',
      actions: ['iam:PassRole'],
      conditions: () => ({ StringEquals: { 'iam:PassedToService': 'states.amazonaws.com' } }),
    },
  ],
  'machine.deployed': [VERSIONS],
  // That of an inline document is made of the stage and the document's hash.
  'machine.named': [VERSIONS],
  'machine.start': [
    { on: 'table', actions: ['dynamodb:GetItem', 'dynamodb:UpdateItem'], conditions: OF_MACHINES },
    { on: 'machines', actions: ['states:StartExecution'] },
  ],
  'machine.clear': [
    {
      on: 'table',
      actions: ['dynamodb:GetItem', 'dynamodb:Query', 'dynamodb:UpdateItem', 'dynamodb:DeleteItem'],
      conditions: OF_MACHINES,
    },
    { on: 'inlineMachines', actions: ['states:ListExecutions', 'states:DeleteStateMachine'] },
    // AWS keeps a version that an alias names, and lets executions on a removed one go on.
    { on: 'machines', actions: ['states:ListStateMachineVersions', 'states:DeleteStateMachineVersion'] },
  ],
  // Which release new runs begin with lies beside them.
  'machine.takeBack': [{ on: 'table', actions: ['dynamodb:GetItem', 'dynamodb:UpdateItem'], conditions: OF_MACHINES }],
  'machine.describe': [{ on: 'executions', actions: ['states:DescribeExecution'] }],
  'machine.stop': [{ on: 'executions', actions: ['states:StopExecution'] }],
  'outbox.nudge': [{ on: 'sendOutbox', actions: ['lambda:InvokeFunction'] }],
  'webhooks.nudge': [{ on: 'sendOutbox', actions: ['lambda:InvokeFunction'] }],
  'outbox.start': [{ on: 'startRun', actions: ['lambda:InvokeFunction'] }],
  'outbox.graph': [{ on: 'indexGraph', actions: ['lambda:InvokeFunction'] }],
  'outbox.fire': [{ on: 'fireTriggers', actions: ['lambda:InvokeFunction'] }],
  'outbox.mark': [{ on: 'keepOrErase', actions: ['lambda:InvokeFunction'] }],
  'outbox.bulk': [{ on: 'runBulk', actions: ['lambda:InvokeFunction'] }],
  'outbox.webhook': [{ on: 'sendWebhooks', actions: ['lambda:InvokeFunction'] }],
  'outbox.bus': [{ on: 'sendBusEvents', actions: ['lambda:InvokeFunction'] }],
  'outbox.slack': [{ on: 'slackWork', actions: ['lambda:InvokeFunction'] }],
  'outbox.anchor': [{ on: 'writeAnchor', actions: ['lambda:InvokeFunction'] }],
  // Nothing else: S3 refuses a second object of the name (If-None-Match), and the lock what would take one away.
  'anchors.put': [{ on: 'anchors', actions: ['s3:PutObject'] }],
  // Of every version that there is, who put it and until when it is locked.
  'anchors.read': [
    { on: 'anchors', actions: ['s3:GetObjectVersion', 's3:GetObjectRetention'] },
    { on: 'anchorsBucket', actions: ['s3:ListBucketVersions'] },
  ],
  // One version by its id. ListBucket makes what is gone 404; without it S3 says 403.
  'drops.read': [
    { on: 'drops', actions: ['s3:GetObjectVersion'] },
    { on: 'dropsBucket', actions: ['s3:ListBucket'] },
  ],
  'http.request': [{ on: 'netGate', actions: ['lambda:InvokeFunction'] }],
  'shell.run': [{ on: 'shellGate', actions: ['lambda:InvokeFunction'] }],
} as const satisfies Readonly<Partial<Record<Right, readonly Allowed[]>>>

/** One action on items of these partitions. */
function onItems(action: string, conditions: Condition): readonly Allowed[] {
  return [{ on: 'table', actions: [`dynamodb:${action}`], conditions }]
}

/** The ARNs of what rights are given on: of a tenant's own, one a tenant. */
function resourceArns(stack: Stack, names: Names, on: ResourceName, tenants: readonly string[]): readonly string[] {
  if (!isOfTenant(on)) return [stack.formatArn(RESOURCES[on](names, stack))]
  const bucket = on === 'anchors' ? RESOURCES.anchorsBucket : s3
  return tenants.map((tenant) =>
    stack.formatArn({ ...bucket(names, stack), resourceName: TENANT_RESOURCES[on](tenant) }),
  )
}

type ResourceName = keyof typeof RESOURCES | keyof typeof TENANT_RESOURCES

/** Folders of the bucket; `anchors` of the one with Object Lock. */
const TENANT_RESOURCES = {
  objects: (tenant: string) => `${tenant}/objects/*`,
  snapshots: (tenant: string) => `${tenant}/index/*`,
  anchors: (tenant: string) => `${anchorPrefix(tenant)}*`,
}

function isOfTenant(on: ResourceName): on is keyof typeof TENANT_RESOURCES {
  return Object.hasOwn(TENANT_RESOURCES, on)
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

const bucketOfDrops = ({ drops }: Names, { account, region }: Stack): ArnComponents => ({
  service: 's3',
  region: '',
  account: '',
  resource: drops(account, region),
})

const RESOURCES = {
  table: (names: Names) => table(names.table),
  runsByTime: (names: Names) => table(`${names.table}/index/${RUN_INDEXES.runs.name}`),
  runsInbox: (names: Names) => table(`${names.table}/index/${RUN_INDEXES.approvals.name}`),
  runsDue: (names: Names) => table(`${names.table}/index/${RUN_INDEXES.due.name}`),
  bucket: s3,
  anchorsBucket: (names: Names, { account, region }: Stack) => ({
    service: 's3',
    region: '',
    account: '',
    resource: names.anchors(account, region),
  }),
  dropsBucket: bucketOfDrops,
  drops: (names: Names, stack: Stack) => ({ ...bucketOfDrops(names, stack), resourceName: '*' }),
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
  fireTriggers: (names: Names) => colons('lambda', 'function', names.function('fire-triggers')),
  keepOrErase: (names: Names) => colons('lambda', 'function', names.function('keep-or-erase')),
  runBulk: (names: Names) => colons('lambda', 'function', names.function('run-bulk')),
  sendWebhooks: (names: Names) => colons('lambda', 'function', names.function('send-webhooks')),
  sendBusEvents: (names: Names) => colons('lambda', 'function', names.function('send-bus-events')),
  slackWork: (names: Names) => colons('lambda', 'function', names.function('slack-work')),
  writeAnchor: (names: Names) => colons('lambda', 'function', names.function('write-anchor')),
  netGate: (names: Names) => colons('lambda', 'function', names.function('net-gate')),
  shellGate: (names: Names) => colons('lambda', 'function', names.function('shell-gate')),
} as const satisfies Readonly<Record<string, (names: Names, stack: Stack) => ArnComponents>>
