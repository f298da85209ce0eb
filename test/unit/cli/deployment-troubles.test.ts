import { describe, expect, test } from 'vitest'
import { findTroubles } from '../../../clients/cli/aws/deployment-troubles.ts'

/** What CloudFormation and the CDK have written where deployments of others failed. */
const handler = (said: string, code: string) =>
  `sluice-dev-x | 3/9 | 4:05:50 PM | CREATE_FAILED | AWS::X::Y | Thing Resource handler returned message: "${said}" (RequestToken: 1, HandlerErrorCode: ${code})`
const SEEN: readonly (readonly [string, string])[] = [
  [
    'not_bootstrapped',
    "❌ sluice-dev-data failed: Error: sluice-dev-data: SSM parameter /cdk-bootstrap/hnb659fds/version not found. Has the environment been bootstrapped? Please run 'cdk bootstrap'",
  ],
  [
    'not_bootstrapped',
    "❌ Error: sluice-dev-data: This CDK deployment requires bootstrap stack version '21', found '6'. Please run 'cdk bootstrap'.",
  ],
  [
    'log_destination_not_ready',
    handler(
      'The state machine IAM Role is not authorized to access the Log Destination (Service: AWSStepFunctions; Status Code: 400; Error Code: AccessDeniedException; Request ID: 3dde; Proxy: null)',
      'AccessDenied',
    ),
  ],
  [
    'role_not_ready',
    handler(
      'The role defined for the function cannot be assumed by Lambda. (Service: Lambda, Status Code: 400)',
      'InvalidRequest',
    ),
  ],
  [
    'role_not_ready',
    handler(
      'Neither the global service principal states.amazonaws.com, nor the regional one is authorized to assume the provided role.',
      'AccessDenied',
    ),
  ],
  [
    'log_policies_full',
    handler(
      'Resource limit exceeded. (Service: CloudWatchLogs, Status Code: 400, Request ID: ed66) (SDK Attempt Count: 1)',
      'ServiceLimitExceeded',
    ),
  ],
  [
    'log_policies_full',
    handler(
      'Invalid Logging Configuration: The CloudWatch Logs Resource Policy size was exceeded. We suggest prefixing your CloudWatch log group name with /aws/vendedlogs/states/.',
      'InvalidRequest',
    ),
  ],
  [
    'too_few_executions',
    handler(
      "Specified ReservedConcurrentExecutions for function decreases account's UnreservedConcurrentExecution below its minimum value of [10]. (Service: Lambda, Status Code: 400)",
      'InvalidRequest',
    ),
  ],
  [
    'api_gateway_logs_not_ready',
    handler('CloudWatch Logs role ARN must be set in account settings to enable logging', 'InvalidRequest'),
  ],
  [
    'name_taken',
    handler("Resource of type 'AWS::Logs::LogGroup' with identifier '/aws/lambda/x' already exists.", 'AlreadyExists'),
  ],
  [
    'not_consistent_yet',
    handler('Because of eventual consistency the role is not there yet', 'GeneralServiceException'),
  ],
  ['not_consistent_yet', 'x | CREATE_FAILED | AWS::Lambda::Version | V | Exceeded attempts to wait'],
  ['aws_throttles', handler('Rate exceeded (Service: ApiGateway, Status Code: 429)', 'Throttling')],
  [
    'stack_busy',
    '❌ sluice-dev-api failed: ValidationError: Stack:arn:aws:cloudformation:x is in UPDATE_IN_PROGRESS state and can not be updated.',
  ],
  ['aws_credentials_expired', '❌ ExpiredToken: The security token included in the request is expired'],
]

describe('findTroubles()', () => {
  test.each(SEEN)('knows %s', (kind, line) => {
    const output = `sluice-dev-x | 2/9 | CREATE_IN_PROGRESS | AWS::X::Y | Thing\n${line}\nsluice-dev-x | ROLLBACK_IN_PROGRESS\n`
    const found = findTroubles(output)
    expect(found.map((trouble) => trouble.kind)).toEqual([kind])
    expect(found[0]?.fix.length).toBeGreaterThan(10)
  })

  test('knows a reason that stands in the line below its resource', () => {
    const output =
      'CREATE_FAILED | AWS::Lambda::Function | RunBlock\nThe role defined for the function cannot be assumed by Lambda.'
    expect(findTroubles(output).map(({ kind }) => kind)).toEqual(['role_not_ready'])
  })

  test('tells each kind once, and nothing of a deployment that goes well or fails in a way nobody knows', () => {
    const [, [, one = ''] = []] = SEEN
    expect(findTroubles(`${one}\n${one}`)).toHaveLength(1)
    expect(findTroubles('sluice-dev-x | CREATE_COMPLETE | AWS::IAM::Role | cannot-be-assumed')).toEqual([])
    expect(findTroubles('❌ failed: something nobody has seen')).toEqual([])
    expect(findTroubles('')).toEqual([])
  })
})
