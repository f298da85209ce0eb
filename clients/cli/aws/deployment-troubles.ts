/** A failure of deployments that others have met, as CloudFormation or the CDK writes it, and what to do about it. */
interface Trouble {
  readonly kind: string
  readonly pattern: RegExp
  readonly what: string
  readonly fix: string
}

/** What is known of a failed deployment. */
export interface FoundTrouble {
  readonly kind: string
  readonly what: string
  readonly fix: string
  /** The line it was found in. */
  readonly line: string
}

const AGAIN =
  'Nothing of the project is wrong: run the same command again. It mostly succeeds at the second time; wait a minute where it does not.'

/** The more special ones first: a line is told once. */
const TROUBLES: readonly Trouble[] = [
  {
    kind: 'not_bootstrapped',
    pattern:
      /\/cdk-bootstrap\/[^ ]+ not found|Has the environment been bootstrapped|toolkit stack must be deployed|Bootstrap stack (?:is )?outdated|requires bootstrap stack version/i,
    what: 'the CDK is not bootstrapped here, or by a version that is too old',
    fix: 'Run `npx cdk bootstrap` for this account and region, then this again.',
  },
  {
    kind: 'log_policies_full',
    pattern:
      /Logs Resource Policy size was exceeded|Policy document length breaking Cloudwatch Logs|Resource limit exceeded\.? \(Service: CloudWatchLogs|Service: (?:CloudWatch ?Logs|AWSLogs).{0,200}LimitExceeded|resource polic.{0,80}limit/i,
    what: 'CloudWatch Logs has no room for another resource policy: an account has 10 a region, of 5,120 characters each, and no quota raises that',
    fix: 'See them with `aws logs describe-resource-policies`; delete one that nobody needs, or merge two (`aws logs delete-resource-policy --policy-name NAME`), then run this again.',
  },
  {
    kind: 'log_destination_not_ready',
    pattern: /not authorized to access the Log Destination|log destination.{0,80}not (?:yet )?authorized/i,
    what: 'Step Functions was asked for a machine before IAM had told it of the rights of the role just made, so it did not believe that the role may log',
    fix: `${AGAIN} If it is always this: does a permissions boundary or a service control policy keep logs:CreateLogDelivery from roles?`,
  },
  {
    kind: 'role_not_ready',
    pattern:
      /cannot be assumed by|authorized to assume the provided role|unable to assume (?:the )?(?:provided )?role|Invalid principal in policy|role .{0,80}does not exist or is not attachable/i,
    what: 'a role that was made seconds before is not known everywhere in AWS yet',
    fix: AGAIN,
  },
  {
    kind: 'too_few_executions',
    pattern: /UnreservedConcurrentExecution below its minimum/i,
    what: 'the account has too few concurrent executions of Lambda for what functions reserve; a new account has 10',
    fix: 'Ask for 1,000 (Service Quotas, Lambda, "Concurrent executions"), or set `reserved_concurrency: false` in sluice.yaml until then (docs/deploy.md, "Quotas to look at").',
  },
  {
    kind: 'api_gateway_logs_not_ready',
    pattern:
      /CloudWatch Logs role ARN must be set in account settings|role ARN does not have required permissions configured/i,
    what: 'API Gateway does not know the role yet that it logs through',
    fix: `${AGAIN} If it is always this: somebody else's deployment took the account's role away (\`aws apigateway get-account\`).`,
  },
  {
    kind: 'key_refuses',
    pattern: /KMS key.{0,120}(?:not allowed|does not exist|not authorized)|KMSAccessDenied|AccessDenied.{0,80}kms:/i,
    what: 'the key of sluice:key does not let a service use it',
    fix: 'Give it the two statements of docs/deploy.md, "Keys", with this region and account.',
  },
  {
    kind: 'name_taken',
    pattern: /(?:with identifier|named) .{0,200}already exists|already exists in stack|ResourceExistenceCheck/i,
    what: 'something of that name is there already, of a stage that was taken down or of something else',
    fix: 'The line names it. A table or bucket of an earlier stage holds its data: delete it only if nobody needs that (`sluice destroy --with-data`), or choose another stage. A log group: `aws logs delete-log-group --log-group-name NAME`.',
  },
  {
    kind: 'stack_stuck',
    pattern:
      /(?:ROLLBACK_FAILED|UPDATE_ROLLBACK_FAILED|DELETE_FAILED)\b.{0,120}(?:state|can ?not|cannot)|is in (?:UPDATE_)?ROLLBACK_FAILED/i,
    what: 'the stack stands where an earlier rollback failed',
    fix: '`aws cloudformation continue-update-rollback --stack-name NAME`, or delete the stack where it was never whole; then run this again.',
  },
  {
    kind: 'stack_busy',
    pattern: /_IN_PROGRESS state and can ?not be (?:updated|deleted)|is currently being updated/i,
    what: 'another deployment of this stage is under way',
    fix: 'Wait for it, then run this again.',
  },
  {
    kind: 'aws_credentials_expired',
    pattern: /ExpiredToken|security token included in the request is expired/i,
    what: 'the AWS credentials expired while it was deployed',
    fix: 'Renew them (`aws sso login`), then run this again: CloudFormation goes on from what is there.',
  },
  {
    kind: 'runtime_not_there',
    pattern: /nodejs24\.x.{0,120}(?:not (?:a )?(?:valid|supported)|enum|constraint)|Value nodejs\d+\.x at 'runtime'/i,
    what: 'this region has no runtime nodejs24.x',
    fix: 'Choose another region (--region).',
  },
  {
    kind: 'quota_reached',
    pattern:
      /ServiceQuotaExceeded|Maximum number of .{0,60} reached|StateMachineLimitExceeded|\bLimitExceeded(?:Exception)?\b/i,
    what: 'a quota of the account is used up',
    fix: 'The line says which; Service Quotas raises most of them (docs/limits-and-costs.md).',
  },
  {
    kind: 'aws_throttles',
    pattern: /Rate exceeded|ThrottlingException|TooManyRequestsException|\bThrottling\b/i,
    what: 'AWS takes no more calls a second from this account',
    fix: 'Wait a minute, and run the same command again.',
  },
  {
    kind: 'not_consistent_yet',
    pattern:
      /eventual(?:ly)? consisten|NotStabilized|did not stabilize|Exceeded attempts to wait|HandlerErrorCode: (?:NotFound|ServiceInternalError|InternalFailure)/i,
    what: 'AWS had not finished with one thing when the next needed it',
    fix: AGAIN,
  },
]

/** Each kind once, with the first line that shows it. Lines without a word of failure are no trouble. */
export function findTroubles(output: string): readonly FoundTrouble[] {
  const found = new Map<string, FoundTrouble>()
  const lines = output.split('\n').map((line) => line.trim())
  for (const [i, line] of lines.entries()) {
    if (!FAILS.test(line)) continue
    // The reason may stand below the resource.
    const trouble = [line, `${line} ${lines[i + 1] ?? ''}`]
      .map((text) => TROUBLES.find(({ pattern }) => pattern.test(text)))
      .find((one) => one !== undefined)
    if (trouble === undefined || found.has(trouble.kind)) continue
    const { kind, what, fix } = trouble
    found.set(kind, { kind, what, fix, line: line.slice(0, 400) })
  }
  return [...found.values()]
}

/** What the CDK writes where something went wrong, and not in passing. */
const FAILS =
  /_FAILED|❌|fail|error|exception|refus|denied|cannot|can ?not|not (?:found|authorized|allowed)|must be|outdated|bootstrap|exceeded|already exists/i
