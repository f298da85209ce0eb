import { RemovalPolicy } from 'aws-cdk-lib'
import { CfnAccount } from 'aws-cdk-lib/aws-apigateway'
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Construct } from 'constructs'

/**
 * Lets API Gateway write logs. The setting is one for the whole account and region, so it stays when the stack goes:
 * other APIs may have come to need it.
 */
export class GatewayLogs extends Construct {
  readonly account: CfnAccount

  constructor(scope: Construct, id: string) {
    super(scope, id)
    const role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('apigateway.amazonaws.com'),
      inlinePolicies: { logs: new PolicyDocument({ statements: [new PolicyStatement(LOGS)] }) },
    })
    role.applyRemovalPolicy(RemovalPolicy.RETAIN)
    this.account = new CfnAccount(this, 'Account', { cloudWatchRoleArn: role.roleArn })
    this.account.applyRemovalPolicy(RemovalPolicy.RETAIN)
    this.account.node.addDependency(role)
  }
}

/** The actions of AWS's own policy for this (AmazonAPIGatewayPushToCloudWatchLogs): the groups are API Gateway's to name. */
const LOGS = {
  actions: [
    'logs:CreateLogGroup',
    'logs:CreateLogStream',
    'logs:DescribeLogGroups',
    'logs:DescribeLogStreams',
    'logs:PutLogEvents',
    'logs:GetLogEvents',
    'logs:FilterLogEvents',
  ],
  resources: ['*'],
}
