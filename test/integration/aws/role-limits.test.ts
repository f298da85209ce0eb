import { App, Stack } from 'aws-cdk-lib'
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { expect, test } from 'vitest'
import { requireQuotas } from '../../../infra/aws/measure-quotas.ts'
import { callPolicy } from '../../../infra/aws/native-calls.ts'

/** A role that says more than IAM takes is refused before anything is deployed, and not by CloudFormation in the middle. */
const PREFIX = 'arn:aws:lambda:eu-central-1:111122223333:function:'

/** The machines' role of a stage whose documents call so many functions, whose ARNs have so many characters. */
function stageThatCalls(functions: number, length: number) {
  const app = new App({ analyticsReporting: false })
  const stack = new Stack(app, 'SluiceMachines', { env: { account: '111122223333', region: 'eu-central-1' } })
  const arns = Array.from(
    { length: functions },
    (_, n) => `${PREFIX}${String(n).padStart(length - PREFIX.length, 'x')}`,
  )
  const calls = callPolicy([{ actions: ['lambda:InvokeFunction'], resources: arns }])
  const own = new PolicyDocument({
    statements: [
      new PolicyStatement({
        actions: ['states:StartExecution'],
        resources: [stack.formatArn({ service: 'states', resource: 'x' })],
      }),
    ],
  })
  new Role(stack, 'Machines', {
    assumedBy: new ServicePrincipal('states.amazonaws.com'),
    inlinePolicies: { parts: own, ...(calls === undefined ? {} : { calls }) },
  })
  return app.synth()
}

test('the role of the machines may name as many functions as IAM has room for, and is refused with figures and a fix', () => {
  expect(() => requireQuotas(stageThatCalls(95, 100))).not.toThrow()
  expect(() => requireQuotas(stageThatCalls(100, 100))).toThrow(
    /^Cannot deploy: the policies of role Machines\w+ \(AWS::IAM::Role\) of stack SluiceMachines, the most of it calls 10[0-9]{3}, parts \d{2,3} would have up to 10[0-9]{3} characters, and AWS takes 10240\. Let documents name fewer calls/,
  )
})
