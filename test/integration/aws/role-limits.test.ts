import { App, Stack } from 'aws-cdk-lib'
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { expect, test } from 'vitest'
import { callPolicy } from '../../../infra/aws/native-calls.ts'
import { requireRoleRoom } from '../../../infra/aws/template-limits.ts'

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
  expect(() => requireRoleRoom(stageThatCalls(95, 100))).not.toThrow()
  expect(() => requireRoleRoom(stageThatCalls(100, 100))).toThrow(
    /^Cannot deploy: role Machines\w+ of stack SluiceMachines would have policies of 10[0-9]{3} characters, and IAM takes 10240 \(the most of it: calls 10[0-9]{3}, parts \d{2,3}\)\. Let documents name fewer calls/,
  )
})
