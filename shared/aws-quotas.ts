/** One quota of AWS: how much there may be, and the page that says so. */
export interface AwsQuota {
  readonly most: number
  /** A page of docs.aws.amazon.com. */
  readonly source: string
}

/** When the figures were put down, each with the page to compare it with; not every page was read anew that day. */
export const QUOTAS_AS_OF = '2026-11-27'

const CLOUDFORMATION = 'AWSCloudFormation/latest/UserGuide/cloudformation-limits.html'
const LAMBDA = 'lambda/latest/dg/gettingstarted-limits.html'
const LAMBDA_FUNCTION = 'lambda/latest/api/API_CreateFunction.html'
const LAMBDA_VPC = 'lambda/latest/api/API_VpcConfig.html'
const IAM = 'IAM/latest/UserGuide/reference_iam-quotas.html'
const STEP_FUNCTIONS = 'step-functions/latest/dg/service-quotas.html'
const API_GATEWAY = 'apigateway/latest/developerguide/api-gateway-execution-service-limits-table.html'
const DYNAMODB = 'amazondynamodb/latest/developerguide/ServiceQuotas.html'
const EVENTBRIDGE = 'eventbridge/latest/userguide/eb-quota.html'
const EVENTBRIDGE_RULE = 'eventbridge/latest/APIReference/API_PutRule.html'
const EVENTBRIDGE_TARGET = 'eventbridge/latest/APIReference/API_Target.html'
const LOGS = 'AmazonCloudWatchLogs/latest/APIReference/API_PutResourcePolicy.html'
const LOG_GROUP = 'AmazonCloudWatchLogs/latest/APIReference/API_CreateLogGroup.html'
const CLOUDWATCH = 'AmazonCloudWatch/latest/monitoring/cloudwatch_limits.html'
const ALARM = 'AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html'
const SQS = 'AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-queues.html'
const S3 = 'AmazonS3/latest/userguide/bucketnamingrules.html'
const S3_POLICY = 'AmazonS3/latest/userguide/bucket-policies.html'
const ECS = 'AmazonECS/latest/developerguide/service-quotas.html'
const TAGS = 'tag-editor/latest/userguide/best-practices-and-strats.html'

/**
 * What a stage, a machine or a run of ours can meet. What a synthesis makes is measured against it (infra/aws/measure-quotas.ts),
 * what a run does by the emulators and by tests (docs/limits-and-costs.md, "Quotas of AWS").
 */
export const AWS_QUOTAS = {
  stack_resources: quota(500, CLOUDFORMATION),
  /** "1 MB", taken as the smaller reading. */
  template_bytes: quota(1_000_000, CLOUDFORMATION),
  stack_outputs: quota(200, CLOUDFORMATION),
  stack_parameters: quota(200, CLOUDFORMATION),
  stack_description_bytes: quota(1_024, CLOUDFORMATION),
  logical_id_characters: quota(255, CLOUDFORMATION),
  function_name_characters: quota(64, LAMBDA_FUNCTION),
  function_description_characters: quota(256, LAMBDA_FUNCTION),
  function_subnets: quota(16, LAMBDA_VPC),
  function_security_groups: quota(5, LAMBDA_VPC),
  function_timeout_sec: quota(900, LAMBDA),
  /** All variables of a function together, counted as their JSON text. */
  environment_bytes: quota(4_096, LAMBDA),
  /** 75 GB: of all versions of all functions of an account and region, as they are stored. */
  function_code_bytes: quota(80_530_636_800, LAMBDA),
  /** Who may invoke one function. */
  function_policy_bytes: quota(20_480, LAMBDA),
  /** Of a call that is waited for, and of its answer unless that is streamed. */
  function_payload_bytes: quota(6_291_456, LAMBDA),
  role_name_characters: quota(64, IAM),
  role_trust_characters: quota(2_048, IAM),
  /** Of all inline policies of a role together; white space is not counted. */
  role_policy_characters: quota(10_240, IAM),
  policy_name_characters: quota(128, IAM),
  machine_name_characters: quota(80, STEP_FUNCTIONS),
  state_name_characters: quota(80, 'step-functions/latest/dg/amazon-states-language-state-machine-structure.html'),
  machine_bytes: quota(1_048_576, STEP_FUNCTIONS),
  history_events: quota(25_000, STEP_FUNCTIONS),
  /** Of any input or output, in bytes of UTF-8. */
  payload_bytes: quota(262_144, STEP_FUNCTIONS),
  versions_of_a_machine: quota(1_000, STEP_FUNCTIONS),
  /** Resources of a REST API, its root among them. */
  api_resources: quota(300, API_GATEWAY),
  api_authorizers: quota(10, API_GATEWAY),
  api_policy_characters: quota(8_192, API_GATEWAY),
  /** Requests a second of all APIs of an account and region, and how many may come at once. */
  api_rate: quota(10_000, 'apigateway/latest/developerguide/limits.html'),
  api_burst: quota(5_000, 'apigateway/latest/developerguide/limits.html'),
  item_bytes: quota(409_600, DYNAMODB),
  expression_bytes: quota(4_096, DYNAMODB),
  table_name_characters: quota(255, DYNAMODB),
  rule_name_characters: quota(64, EVENTBRIDGE_RULE),
  rule_pattern_characters: quota(2_048, EVENTBRIDGE),
  rule_targets: quota(5, EVENTBRIDGE),
  rule_input_characters: quota(8_192, EVENTBRIDGE_TARGET),
  log_group_name_characters: quota(512, LOG_GROUP),
  log_policy_characters: quota(5_120, LOGS),
  alarm_name_characters: quota(255, ALARM),
  alarm_description_characters: quota(1_024, ALARM),
  /** Metrics that one alarm's expression reads. */
  alarm_metrics: quota(10, ALARM),
  dashboard_metrics: quota(2_500, CLOUDWATCH),
  queue_name_characters: quota(80, SQS),
  bucket_name_characters: quota(63, S3),
  bucket_policy_bytes: quota(20_480, S3_POLICY),
  task_definition_bytes: quota(65_536, ECS),
  tags: quota(50, TAGS),
  tag_key_characters: quota(128, TAGS),
  tag_value_characters: quota(256, TAGS),
} satisfies Readonly<Record<string, AwsQuota>>

function quota(most: number, page: string): AwsQuota {
  return { most, source: `https://docs.aws.amazon.com/${page}` }
}
