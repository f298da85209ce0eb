import type { FunctionEnvironment } from '../../../functions/aws/core.ts'
import { readEnvironment } from '../../../functions/aws/entry.ts'
import { ACCOUNT, REGION } from '../../emulators/aws-client.ts'

/** The settings of one function of a test deployment. */
export function awsSettings(env: Readonly<Record<string, string>>): FunctionEnvironment {
  return readEnvironment({ STAGE: 'test', AWS_REGION: REGION, ...env })
}

export function lambdaArn(name: string): string {
  return `arn:aws:lambda:${REGION}:${ACCOUNT}:function:sluice-test-${name}`
}
