/**
 * What AWS's service authorization reference says of the actions that roles of a stage have: which kinds of resource a
 * policy may name for each, and which keys its conditions may look at. IAM takes a policy that names another kind, and
 * then allows nothing by it. After https://docs.aws.amazon.com/service-authorization/latest/reference, as known in 2026-11; the
 * rows were not each held against that page.
 */
interface Authorized {
  /** Of an ARN without partition, region and account; none = only `*`. */
  readonly resources: readonly RegExp[]
  readonly keys: readonly string[]
}

const TABLE = /^dynamodb:table\/[^/]+$/
const INDEX = /^dynamodb:table\/[^/]+\/index\/[^/]+$/
const OF_ITEMS = ['dynamodb:Attributes', 'dynamodb:LeadingKeys', 'dynamodb:ReturnConsumedCapacity']
const MACHINE = /^states:stateMachine:[^:]+(:[^:]+)?$/
const EXECUTION = /^states:execution:[^:]+:[^:]+$/
const BUCKET = /^s3:::[^/]+$/
const OBJECT = /^s3:::[^/]+\/.+$/
const FUNCTION = /^lambda:(.+:)?function:[^:]+(:[^:]+)?$/
/** Or one that the template makes. */
const GROUP = /^(logs:log-group:[^:]+(:\*)?|<\w+Logs\w+\.Arn>)$/
const KEY = /^kms:.*key\/.+$/
const TASK = /^ecs:.*task\/.+$/

const one = (actions: string, resources: readonly RegExp[], keys: readonly string[] = []) =>
  actions.split(' ').map((action) => [action, { resources, keys }] as const)

export const AUTHORIZED: ReadonlyMap<string, Authorized> = new Map([
  ...one('dynamodb:GetItem dynamodb:BatchGetItem dynamodb:PutItem', [TABLE], OF_ITEMS),
  ...one('dynamodb:UpdateItem dynamodb:DeleteItem dynamodb:BatchWriteItem', [TABLE], OF_ITEMS),
  ...one('dynamodb:Query', [TABLE, INDEX], OF_ITEMS),
  ...one('s3:GetObject s3:PutObject s3:GetObjectVersion s3:GetObjectRetention s3:DeleteObjectVersion', [OBJECT]),
  ...one('s3:ListBucket s3:ListBucketVersions', [BUCKET], ['s3:prefix']),
  ...one('states:StartExecution states:CreateStateMachine states:UpdateStateMachine', [MACHINE]),
  ...one('states:DeleteStateMachine states:DeleteStateMachineVersion states:ListStateMachineVersions', [MACHINE]),
  ...one('states:ListExecutions states:DescribeStateMachineAlias states:TagResource', [MACHINE]),
  ...one('states:SendTaskSuccess states:SendTaskHeartbeat', [MACHINE]),
  ...one('states:DescribeExecution states:StopExecution', [EXECUTION]),
  ...one('lambda:InvokeFunction lambda:ListVersionsByFunction', [FUNCTION]),
  ...one('logs:CreateLogStream logs:PutLogEvents', [GROUP]),
  ...one('logs:CreateLogDelivery logs:GetLogDelivery logs:UpdateLogDelivery logs:DeleteLogDelivery', []),
  ...one('logs:ListLogDeliveries logs:PutResourcePolicy logs:DescribeResourcePolicies logs:DescribeLogGroups', []),
  ...one('logs:DescribeLogStreams logs:FilterLogEvents logs:GetLogEvents logs:CreateLogGroup', [GROUP]),
  ...one('xray:PutTraceSegments xray:PutTelemetryRecords xray:GetSamplingRules xray:GetSamplingTargets', []),
  ...one('secretsmanager:GetSecretValue', [/^secretsmanager:.*secret:.+$/]),
  ...one('ssm:GetParameter ssm:GetParameters', [/^ssm:.*parameter\/.+$/]),
  ...one(
    'kms:Decrypt kms:GenerateDataKey kms:DescribeKey kms:Encrypt kms:ReEncryptFrom kms:ReEncryptTo',
    [KEY],
    ['kms:ViaService', 'kms:ResourceAliases'],
  ),
  ...one('iam:PassRole', [/^iam::.*:role\/.+$/], ['iam:PassedToService']),
  ...one('sqs:SendMessage', [/^sqs:.+$/]),
  ...one(
    'events:PutEvents',
    [/^events:event-bus\/.+$/],
    ['events:detail-type', 'events:source', 'events:eventBusInvocation'],
  ),
  ...one('events:PutRule events:PutTargets events:DescribeRule', [/^events:rule\/.+$/]),
  ...one('ecs:RunTask', [/^ecs:.*task-definition\/.+$/], ['ecs:cluster']),
  ...one('ecs:StopTask ecs:DescribeTasks', [TASK], ['ecs:cluster']),
  ...one('ecr:BatchGetImage ecr:GetDownloadUrlForLayer ecr:BatchCheckLayerAvailability', [/^ecr:.*repository\/.+$/]),
  ...one('ecr:GetAuthorizationToken', []),
  // Lambda's guide names everything for them, also for those that have resources; its key is of calls by code of a function.
  ...one(
    'ec2:CreateNetworkInterface ec2:DescribeNetworkInterfaces ec2:DescribeSubnets ec2:DeleteNetworkInterface',
    [],
    ['lambda:SourceFunctionArn'],
  ),
  ...one('ec2:AssignPrivateIpAddresses ec2:UnassignPrivateIpAddresses', [], ['lambda:SourceFunctionArn']),
  ...one(
    'bedrock:InvokeModel bedrock:InvokeModelWithResponseStream',
    [/^bedrock:.*(foundation-model|inference-profile|application-inference-profile)\/.+$/],
    ['bedrock:InferenceProfileArn'],
  ),
])
