/**
 * Rights that a whole run of test/aws may leave unused, by the reason they are there all the same: `who policy action`,
 * `*` for whoever has it. That each is reached from the function's code is held by test/integration/aws/access.test.ts.
 */
export const SELDOM_USED: Readonly<Record<string, readonly string[]>> = {
  'An answer was lost: the SDK sends again, and the item is read to see whose write it was.': [
    '* runs.count dynamodb:GetItem',
    '* runs.note dynamodb:GetItem',
    '* tokens.put dynamodb:GetItem',
    '* graph dynamodb:GetItem',
    'clear-machines machine.clear dynamodb:GetItem',
    '* spending.count dynamodb:GetItem',
  ],
  'An append looks back through the pages after a lost answer, and moves a tail of eight events into one: whom it meets is chance.':
    ['* runs dynamodb:Query', '* runs dynamodb:PutItem'],
  'An object has expired: S3 says so to none but who may list.': [
    '* objects.get s3:ListBucket',
    '* search.read s3:ListBucket',
    'index-graph index.publish s3:ListBucket',
    '* objects s3:ListBucket',
    'run-block steps.collect s3:ListBucket',
  ],
  'The links of an entity are written, and taken away, where it has some; those of a loop lead nowhere.': [
    'start-run graph dynamodb:BatchWriteItem',
    'synthesize-answer graph dynamodb:BatchWriteItem',
    '* graph dynamodb:DeleteItem',
    'nl-classify graph dynamodb:Query',
  ],
  'A question about a set is answered over a named thing: what is linked to it is looked up then.': [
    'assess-sufficiency graph dynamodb:Query',
    'synthesize-answer graph dynamodb:Query',
  ],
  'What a tenant stores is counted where a cap says how much; bodies that come with their entities are counted as others are.':
    ['* runs.stored dynamodb:Query', '* runs.stored dynamodb:UpdateItem'],
  'The index is made anew when its form changes; bodies are kept once a day.': [
    'index-graph graph.list dynamodb:Query',
    'index-graph index.publish dynamodb:Query',
    'index-graph objects s3:PutObject',
  ],
  'A decision that is taken over was made with a token: whether its maker may still decide is looked up, where a stage has tokens.':
    [
      'run-block tokens.read dynamodb:GetItem',
      'request-approval tokens.read dynamodb:GetItem',
      'open-child tokens.read dynamodb:GetItem',
      'open-step tokens.read dynamodb:GetItem',
      'open-wait tokens.read dynamodb:GetItem',
    ],
  'What is tried again is a deployed document: its machine is found by its alias.': [
    'retry-run machine.named states:DescribeStateMachineAlias',
    'run-bulk machine.named states:DescribeStateMachineAlias',
  ],
  'Versions are looked at in one hour of the day, and removed a month after they were replaced.': [
    'clear-machines machine.clear states:ListStateMachineVersions',
    'clear-machines machine.clear states:DeleteStateMachineVersion',
  ],
  'An older release made the machine of an inline document differently.': [
    'start-run machine.ensure states:UpdateStateMachine',
  ],
  'A document over the size of one machine: step-functions-parts.test.ts runs one.': [
    '* parts states:StartExecution',
    '* parts states:DescribeExecution',
    '* parts states:StopExecution',
    '* parts events:DescribeRule',
    '* parts events:PutRule',
    '* parts events:PutTargets',
  ],
  'Places in the queue of starts: queues are tested on the table itself.': ['* runs.dequeue dynamodb:DeleteItem'],
  'The key of cursors is made by the first list of a tenant, whichever that is.': ['* runs.inbox dynamodb:PutItem'],
  'Gates stand before children and approvals too; a judge, a command or a URL there is the same code.': [
    '* http.request lambda:InvokeFunction',
    '* shell.run lambda:InvokeFunction',
    'request-approval secrets.read secretsmanager:GetSecretValue',
    'open-child secrets.read secretsmanager:GetSecretValue',
    'open-step secrets.read secretsmanager:GetSecretValue',
    'open-wait secrets.read secretsmanager:GetSecretValue',
    '* spending.count dynamodb:UpdateItem',
  ],
  'Containers run on no machine here: what stands for one reads and leaves its files past the door.': [
    '* exchange s3:GetObject',
    '* exchange s3:PutObject',
    '* exchange s3:ListBucket',
    '* grants s3:GetObject',
  ],
  'A bulk that takes longer than one call, or whose call died, is gone on with: the simulation has both.': [
    'sweep outbox.bulk lambda:InvokeFunction',
    'run-bulk outbox.bulk lambda:InvokeFunction',
  ],
  'Whoever started a bulk had a token: whether it is still valid is looked up before each run.': [
    'run-bulk tokens.read dynamodb:GetItem',
  ],
  'A dropped object is gone before it is read: S3 says so to none but who may list.': [
    'take-object drops.read s3:ListBucket',
  ],
  'Documents of children and retries name tools of servers too; an agent searches a graph that is published.': [
    '* mcp.key secretsmanager:GetSecretValue',
    'run-block search.read dynamodb:GetItem',
    'run-block search.read s3:GetObject',
  ],
  'A step that works for longer than its tests do says so; what it says that is too large for an event is kept.': [
    'report-step machine.beat states:SendTaskHeartbeat',
    'report-step objects s3:PutObject',
  ],
  'Bedrock’s stand-in is asked at an address of its own, past the door.': [
    '* models.ask bedrock:InvokeModel',
    '* models.ask bedrock:InvokeModelWithResponseStream',
  ],
  'One stage has a webhook and one a collector of spans: not every function writes what these are told of.': [
    '* webhooks.nudge lambda:InvokeFunction',
    '* telemetry.secrets secretsmanager:GetSecretValue',
  ],
  'Starts look at what is spent where the settings have a cap: only start-run begins runs on the stage that has one.': [
    '* spending.read dynamodb:GetItem',
  ],
  'Large pools of leases are shards, and all of them are read where some leases may lie away from home.': [
    'stream-events runs.lease dynamodb:Query',
  ],
  'What was given up is put on its bus again as what is tried there is: with webhooks test.': [
    'replay-webhook buses.put events:PutEvents',
  ],
  'Triggers are looked at each minute besides, and that look may come first.': [
    'change-trigger outbox.fire lambda:InvokeFunction',
    'receive-event outbox.fire lambda:InvokeFunction',
  ],
  'So few runs begin alike that their list has no second page.': ['get-run runs.list dynamodb:PutItem'],
  'Something else did it before: a run was sent on, a join was answered, an end was seen.': [
    'send-outbox objects s3:GetObject',
    'sweep objects s3:GetObject',
    'close-module machine.answer states:SendTaskSuccess',
    'release-starts outbox.nudge lambda:InvokeFunction',
    'open-step outbox.nudge lambda:InvokeFunction',
    'run-block waits.forget dynamodb:DeleteItem',
    'verify-run runs dynamodb:BatchGetItem',
    'send-outbox runs dynamodb:BatchGetItem',
  ],
  'The bucket of this stage keeps one version of an object: test/integration/aws/erasure.test.ts erases from one that keeps all.':
    [
      'erase-run runs.count dynamodb:UpdateItem',
      'run-bulk runs.count dynamodb:UpdateItem',
      'erase-run outbox.mark lambda:InvokeFunction',
      'sweep outbox.mark lambda:InvokeFunction',
      'keep-or-erase objects s3:DeleteObjectVersion',
      'keep-or-erase objects s3:PutObject',
      'keep-or-erase graph.list dynamodb:Query',
      'keep-or-erase graph dynamodb:BatchGetItem',
      'keep-or-erase graph dynamodb:PutItem',
      'keep-or-erase triggers dynamodb:GetItem',
      'keep-or-erase triggers dynamodb:PutItem',
      'keep-or-erase triggers dynamodb:Query',
      'keep-or-erase outbox.slack lambda:InvokeFunction',
    ],
  'The stage that is copied has no triggers, and its graph is taken by an empty one: test/integration/stage-copy.test.ts has both.':
    [
      'export-stage runs dynamodb:BatchGetItem',
      'export-stage graph dynamodb:BatchGetItem',
      'export-stage graph.list dynamodb:Query',
      'export-stage triggers dynamodb:GetItem',
      'export-stage triggers dynamodb:Query',
      'import-stage triggers dynamodb:GetItem',
      'import-stage triggers dynamodb:PutItem',
    ],
}
