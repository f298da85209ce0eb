import { Stack } from 'aws-cdk-lib'
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Construct } from 'constructs'
import type { Names } from './names.ts'

export interface MachineRoleProps {
  readonly names: Names
  /** Of the functions machines call. */
  readonly functionArns: readonly string[]
}

/** What every machine runs as, deployed or inline: it invokes the functions of the catalog that have a placeholder. */
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
        logs: allow(LOG_DELIVERY, ['*']),
        traces: allow(TRACES, ['*']),
      },
    })
  }
}

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
