import type { ResourceName } from './named-resources.ts'
import type { Right } from './right.ts'
import { type Condition, partitions, partitionsLike } from './tenant-partitions.ts'

/** Some actions on one kind of resource. */
export interface Allowed {
  readonly on: ResourceName
  readonly actions: readonly string[]
  readonly conditions?: Condition
}

const OF_TENANT = partitions('')

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

const OF_TOKENS = () => ({ 'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': 'TOKENS' } })

/** The partitions of entities, of the list of them, and of what leads from the graph to its index. */
const OF_GRAPH = partitionsLike('#G', '#G#*')
const OF_MANIFEST = partitions('#G')

/** Aliases of deployed machines say their versions. */
const VERSIONS: Allowed = { on: 'machines', actions: ['states:DescribeStateMachineAlias'] }

/** What each right allows; those on what the settings name are in access.ts. */
export const STATEMENTS = {
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
  // Places in the queue of starts, which lie in a partition of their own: nothing else can be deleted.
  'runs.dequeue': [
    {
      on: 'table',
      actions: ['dynamodb:DeleteItem'],
      conditions: partitions('#QUEUE'),
    },
  ],
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
      actions: ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'],
      conditions: OF_TENANT,
    },
  ],
  // One item that health is probed with, in a partition of its own.
  'health.probe': [
    {
      on: 'table',
      actions: ['dynamodb:GetItem', 'dynamodb:PutItem'],
      conditions: () => ({ 'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': 'HEALTH' } }),
    },
  ],
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
  ],
  'machine.describe': [{ on: 'executions', actions: ['states:DescribeExecution'] }],
  'machine.stop': [{ on: 'executions', actions: ['states:StopExecution'] }],
  'outbox.nudge': [{ on: 'sendOutbox', actions: ['lambda:InvokeFunction'] }],
  'webhooks.nudge': [{ on: 'sendOutbox', actions: ['lambda:InvokeFunction'] }],
  'outbox.start': [{ on: 'startRun', actions: ['lambda:InvokeFunction'] }],
  'outbox.graph': [{ on: 'indexGraph', actions: ['lambda:InvokeFunction'] }],
  'outbox.webhook': [{ on: 'sendWebhooks', actions: ['lambda:InvokeFunction'] }],
  'outbox.slack': [{ on: 'slackWork', actions: ['lambda:InvokeFunction'] }],
  'outbox.anchor': [{ on: 'writeAnchor', actions: ['lambda:InvokeFunction'] }],
  // Nothing else: S3 refuses a second object of the name (If-None-Match), and the lock what would take one away.
  'anchors.put': [{ on: 'anchors', actions: ['s3:PutObject'] }],
  // Of every version that there is, who put it and until when it is locked.
  'anchors.read': [
    { on: 'anchors', actions: ['s3:GetObjectVersion', 's3:GetObjectRetention'] },
    { on: 'anchorsBucket', actions: ['s3:ListBucketVersions'] },
  ],
  'http.request': [{ on: 'netGate', actions: ['lambda:InvokeFunction'] }],
  'shell.run': [{ on: 'shellGate', actions: ['lambda:InvokeFunction'] }],
} as const satisfies Readonly<Partial<Record<Right, readonly Allowed[]>>>

/** One action on items of these partitions. */
function onItems(action: string, conditions: Condition): readonly Allowed[] {
  return [{ on: 'table', actions: [`dynamodb:${action}`], conditions }]
}
