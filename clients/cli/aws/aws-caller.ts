import { CloudFormationClient } from '@aws-sdk/client-cloudformation'
import { fromNodeProviderChain } from '@aws-sdk/credential-providers'
import { awsRefusal } from './aws-refusal.ts'

export interface CallerOptions {
  readonly profile?: string | undefined
  readonly region?: string | undefined
}

/** Who calls AWS, and where: found as every AWS tool finds it (environment, ~/.aws, SSO, instance role). */
export interface AwsCaller {
  credentials(): Promise<{ readonly accessKeyId: string; readonly secretAccessKey: string }>
  region(): Promise<string>
  readonly cloudFormation: CloudFormationClient
}

/** Nothing is asked before it is needed. What AWS's own rules do not find is Refused in words. */
export function awsCaller({ profile, region }: CallerOptions): AwsCaller {
  const chosen = { ...(profile !== undefined && { profile }), ...(region !== undefined && { region }) }
  const chain = fromNodeProviderChain(profile === undefined ? {} : { profile })
  const credentials = () => chain().catch((error: unknown) => Promise.reject(awsRefusal(error)))
  const cloudFormation = new CloudFormationClient({ ...chosen, credentials, maxAttempts: 3 })
  return {
    credentials,
    region: () => cloudFormation.config.region().catch((error: unknown) => Promise.reject(awsRefusal(error))),
    cloudFormation,
  }
}
