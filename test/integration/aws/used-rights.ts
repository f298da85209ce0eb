import type { Right } from '../../../infra/aws/grants.ts'
import type { FunctionLine } from '../../../shared/catalog.ts'
import type { CalledMethod } from './called-methods.ts'
import type { PortMethod, SdkCalls } from './sdk-calls.ts'

/** A call of a port, as AWS sees it. */
export interface AskedRight extends CalledMethod {
  readonly rights: readonly Right[]
  /** IAM actions it needs; nothing where no request is made. */
  readonly actions: readonly string[]
  readonly written: readonly PortMethod[]
}

/** What a function's calls of ports need: which rights, and which actions by the code of the adapters. */
export function askedRights(
  line: Pick<FunctionLine, 'name' | 'file'>,
  called: readonly CalledMethod[],
  sdk: SdkCalls,
): readonly AskedRight[] {
  return called.flatMap((call) => {
    const written = sdk.methods(call.port, call.method)
    // A list that is named like a port.
    if (written.length === 0) return []
    const commands = [...new Set(written.flatMap(({ calls }) => calls.map(({ command }) => command)))].filter(
      (command) => !isElsewhere(call, command),
    )
    const rights = rightsOf(call, commands).flatMap((right) => ofStage(line, call, right))
    return [{ ...call, rights, actions: actionsOf(call, commands), written }]
  })
}

/** An append also nudges where there are webhooks: that is the outbox's call. Tokens are answered with success only. */
function isElsewhere({ port, method }: CalledMethod, command: string): boolean {
  return (port === 'runs' && command === 'Invoke') || (method === 'answer' && command === 'SendTaskFailure')
}

/** By a method's own right, else by what it does with items. */
function rightsOf({ port, method }: CalledMethod, commands: readonly string[]): readonly Right[] {
  const own = RIGHTS[`${port}.${method}`] ?? RIGHTS[port]
  if (own !== undefined) return own
  return commands.map((command) => ITEM_RIGHTS[`${port} ${command}`] ?? unknown(port, method, command))
}

function unknown(port: string, method: string, command: string): never {
  throw new Error(
    `no right is known for ${command} of ${port}.${method}: say it in test/integration/aws/used-rights.ts`,
  )
}

/** Methods on something else than items of a run or of the graph, by method or by port. */
const RIGHTS: Readonly<Record<string, readonly Right[]>> = {
  'runs.list': ['runs.list'],
  'runs.inbox': ['runs.inbox', 'runs.get', 'runs.getAll'],
  'runs.due': ['runs.due'],
  'runs.deadWebhooks': ['runs.dead'],
  'runs.dequeue': ['runs.dequeue'],
  'runs.removeView': ['runs.unview'],
  'runs.countRequest': ['runs.count'],
  'runs.noteRequest': ['runs.note'],
  'runs.endRequest': ['runs.noteEnd'],
  'objects.get': ['objects.get'],
  'objects.has': ['objects.get'],
  'objects.put': ['objects.put'],
  'objects.erase': ['objects.erase'],
  'uploads.open': ['objects.put'],
  'graph.list': ['graph.list'],
  search: ['search.read'],
  indexing: ['index.publish'],
  'machine.answer': ['machine.answer'],
  'machine.beat': ['machine.beat'],
  'steps.start': ['steps.start'],
  'steps.task': ['steps.collect'],
  'steps.collect': ['steps.collect'],
  'steps.describe': [],
  'steps.holdsSecret': ['secrets.read', 'services.key'],
  'machine.ensure': ['machine.ensure'],
  'machine.deployed': ['machine.deployed'],
  'machine.named': ['machine.named'],
  'machine.start': ['machine.start'],
  'machine.clear': ['machine.clear'],
  'machine.prune': ['machine.clear'],
  'machine.takeBack': ['machine.takeBack'],
  'machine.describe': ['machine.describe'],
  'machine.stop': ['machine.stop'],
  'machine.holderGone': [],
  'outbox.nudge': ['outbox.nudge'],
  'outbox.startRun': ['outbox.start'],
  'outbox.slackWork': ['outbox.slack'],
  'outbox.graphWork': ['outbox.graph'],
  'outbox.fireTriggers': ['outbox.fire'],
  'outbox.keepOrErase': ['outbox.mark'],
  'outbox.runBulk': ['outbox.bulk'],
  'outbox.webhookWork': ['outbox.webhook'],
  'outbox.busWork': ['outbox.bus'],
  webhooks: ['webhooks.sign'],
  buses: ['buses.put'],
  services: ['services.key'],
  hookKeys: ['hooks.verify'],
  drops: ['drops.read'],
  mcp: ['mcp.key'],
  'outbox.writeAnchor': ['outbox.anchor'],
  'anchors.put': ['anchors.put'],
  'anchors.versions': ['anchors.read'],
  'health.look': ['health.probe'],
  'spending.read': ['spending.read'],
  ...Object.fromEntries(
    ['reserve', 'settle', 'raise', 'noteTold'].map((method) => [`spending.${method}`, ['spending.count'] as const]),
  ),
  'tokens.get': ['tokens.read'],
  'tokens.list': ['tokens.list'],
  'tokens.put': ['tokens.put'],
  'tokens.revoke': ['tokens.revoke'],
  'slack.verify': ['slack.verify'],
  'slack.call': ['slack.call'],
  // An adapter reads its key when it is asked; Bedrock's has none and asks with the function's own role.
  'provider.dispatch': ['secrets.read', 'models.ask'],
  'provider.embed': ['embeddings.secrets'],
  http: ['http.request'],
  shell: ['shell.run'],
}

const ITEM_RIGHTS: Readonly<Record<string, Right>> = {
  'runs GetItem': 'runs.get',
  'runs BatchGetItem': 'runs.getAll',
  'runs Query': 'runs.query',
  'runs PutItem': 'runs.put',
  'runs UpdateItem': 'runs.update',
  'runs DeleteItem': 'runs.erase',
  'waits GetItem': 'runs.get',
  'waits Query': 'runs.query',
  'waits PutItem': 'runs.put',
  'waits UpdateItem': 'runs.update',
  'waits DeleteItem': 'waits.forget',
  'triggers GetItem': 'triggers.get',
  'triggers Query': 'triggers.query',
  'triggers PutItem': 'triggers.put',
  'triggers DeleteItem': 'triggers.forget',
  'graph GetItem': 'graph.get',
  'graph BatchGetItem': 'graph.getAll',
  'graph Query': 'graph.query',
  'graph PutItem': 'graph.put',
  'graph BatchWriteItem': 'graph.putAll',
  'graph DeleteItem': 'graph.delete',
}

/**
 * The stages of the research chain ask the one provider that the settings name for them, the last one its judge too; the one that runs sub-queries
 * asks nobody but the provider of embeddings, though its code for places at a provider could.
 */
function ofStage(
  { name, file }: Pick<FunctionLine, 'name' | 'file'>,
  { port, method }: CalledMethod,
  right: Right,
): readonly Right[] {
  // It changes nothing of a run: leases lie in items of the tenant.
  if (name === 'stream-events' && port === 'runs' && LEASES.has(method)) return ['runs.lease']
  // Nor do uploads: they count to the tenant.
  if (UPLOADS.has(name) && port === 'runs' && STORED.has(method)) return ['runs.stored']
  const isAsking = right === 'secrets.read' || right === 'models.ask'
  if (!file.startsWith('research/') || !isAsking) return [right]
  if (name === 'execute-subqueries') return []
  const what = right === 'secrets.read' ? 'secrets' : 'models'
  // The answer is doubted where it is written, by a model of its own.
  return name === 'synthesize-answer' ? [`research.${what}`, `judge.${what}`] : [`research.${what}`]
}

const UPLOADS = new Set([
  'put-entities',
  'put-object',
  'upload-object',
  'import-stage',
  'take-webhook',
  'take-object',
  'fire-trigger',
])
const STORED = new Set(['countStored', 'storedSince'])
const LEASES = new Set(['takeLease', 'leases', 'dropLease'])

/** By AWS's service authorization reference. */
function actionsOf({ port, method }: CalledMethod, commands: readonly string[]): readonly string[] {
  // Nothing is sent: who holds the URL puts.
  if (port === 'uploads') return ['s3:PutObject']
  if (port === 'anchors' && method === 'versions') return READ_VERSIONS
  if (port === 'drops') return READ_VERSION
  return commands.flatMap((command) => ACTIONS[command] ?? [`${SERVICES[command] ?? 'dynamodb'}:${command}`])
}

/** Without s3:ListBucket a missing object is a refusal. */
const READ_OBJECT = ['s3:GetObject', 's3:ListBucket']

/** Of a GetObject that names a version, and of its lock, which S3 says to none but who may ask for it. */
const READ_VERSIONS = ['s3:ListBucketVersions', 's3:GetObjectVersion', 's3:GetObjectRetention']

/** One that is named; without s3:ListBucket a missing one is a refusal. */
const READ_VERSION = ['s3:GetObjectVersion', 's3:ListBucket']

const ACTIONS: Readonly<Record<string, readonly string[]>> = {
  GetObject: READ_OBJECT,
  HeadObject: READ_OBJECT,
  PutObject: ['s3:PutObject'],
  ListObjectVersions: ['s3:ListBucketVersions'],
  // Each by the id of its version.
  DeleteObject: ['s3:DeleteObjectVersion'],
  Invoke: ['lambda:InvokeFunction'],
  // With tags and a role.
  CreateStateMachine: ['states:CreateStateMachine', 'states:TagResource', 'iam:PassRole'],
}

const SERVICES: Readonly<Record<string, string>> = {
  UpdateStateMachine: 'states',
  DeleteStateMachine: 'states',
  DeleteStateMachineVersion: 'states',
  ListStateMachineVersions: 'states',
  DescribeStateMachine: 'states',
  DescribeStateMachineAlias: 'states',
  ListStateMachines: 'states',
  ListExecutions: 'states',
  StartExecution: 'states',
  DescribeExecution: 'states',
  StopExecution: 'states',
  SendTaskSuccess: 'states',
  SendTaskHeartbeat: 'states',
  ListVersionsByFunction: 'lambda',
  GetSecretValue: 'secretsmanager',
  GetParameter: 'ssm',
  PutEvents: 'events',
  Converse: 'bedrock',
  ConverseStream: 'bedrock',
}
