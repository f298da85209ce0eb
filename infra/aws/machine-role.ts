import { ArnFormat, Stack } from 'aws-cdk-lib'
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Construct } from 'constructs'
import type { Names } from './names.ts'

export interface MachineRoleProps {
  readonly names: Names
  /** Of the functions machines call. */
  readonly functionArns: readonly string[]
}

/**
 * What every machine runs as, deployed or inline: it invokes the functions of the catalog that have a placeholder, and
 * starts, watches and stops parts of machines, whose names alone hold a `_`.
 */
export class MachineRole extends Construct {
  readonly role: Role

  constructor(scope: Construct, id: string, { names, functionArns }: MachineRoleProps) {
    super(scope, id)
    const { region, account } = Stack.of(this)
    const allow = (actions: readonly string[], resources: readonly string[]) =>
      new PolicyDocument({ statements: [new PolicyStatement({ actions: [...actions], resources: [...resources] })] })
    this.role = new Role(this, 'Role', {
      roleName: names.machineRole(region),
      assumedBy: new ServicePrincipal('states.amazonaws.com', {
        // Not on behalf of another account's machine.
        conditions: { StringEquals: { 'aws:SourceAccount': account } },
      }),
      inlinePolicies: {
        functions: allow(['lambda:InvokeFunction'], functionArns),
        parts: partsOf(Stack.of(this), names),
        logs: allow(LOG_DELIVERY, ['*']),
        traces: allow(TRACES, ['*']),
      },
    })
  }
}

/**
 * A machine too large for one starts its parts and waits for them (`startExecution.sync:2`). To wait, Step Functions keeps
 * one rule of its own an account and region. Source: Step Functions guide, "IAM policies for nested workflows".
 */
function partsOf(stack: Stack, names: Names): PolicyDocument {
  const name = names.machinePart('*', '*')
  const arn = (service: string, resource: string, resourceName: string, arnFormat = ArnFormat.COLON_RESOURCE_NAME) =>
    stack.formatArn({ service, resource, resourceName, arnFormat })
  const rule = arn('events', 'rule', RULE_OF_NESTED_RUNS, ArnFormat.SLASH_RESOURCE_NAME)
  const allowed: readonly (readonly [readonly string[], string])[] = [
    [['states:StartExecution'], arn('states', 'stateMachine', name)],
    [['states:DescribeExecution', 'states:StopExecution'], arn('states', 'execution', `${name}:*`)],
    [['events:PutTargets', 'events:PutRule', 'events:DescribeRule'], rule],
  ]
  const statements = allowed.map(
    ([actions, resource]) => new PolicyStatement({ actions: [...actions], resources: [resource] }),
  )
  return new PolicyDocument({ statements })
}

const RULE_OF_NESTED_RUNS = 'StepFunctionsGetEventsForStepFunctionsExecutionRule'

/** Step Functions hands its log to CloudWatch by log delivery, which has no resource level. */
const LOG_DELIVERY = [
  'logs:CreateLogDelivery',
  'logs:GetLogDelivery',
  'logs:UpdateLogDelivery',
  'logs:DeleteLogDelivery',
  'logs:ListLogDeliveries',
  'logs:PutResourcePolicy',
  'logs:DescribeResourcePolicies',
  'logs:DescribeLogGroups',
]

const TRACES = ['xray:PutTraceSegments', 'xray:PutTelemetryRecords', 'xray:GetSamplingRules', 'xray:GetSamplingTargets']
