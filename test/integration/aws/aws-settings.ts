import type { AwsSettings } from '../../../functions/aws/core.ts'
import { readAwsSettings } from '../../../functions/aws/settings.ts'
import { ACCOUNT, REGION } from '../../emulators/aws-client.ts'

/** The settings of one function of a test deployment. */
export function awsSettings(env: Readonly<Record<string, string>>): AwsSettings {
  return readAwsSettings({ STAGE: 'test', AWS_REGION: REGION, ...env })
}

export function lambdaArn(name: string): string {
  return `arn:aws:lambda:${REGION}:${ACCOUNT}:function:sluice-test-${name}`
}
