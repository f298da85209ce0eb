import { GetParameterCommand, SSMClient, type SSMClientConfig } from '@aws-sdk/client-ssm'
import { CLIENT_OPTIONS } from '../client-options.ts'
import type { SecretReader } from './kept-secrets.ts'

/** Parameters of Systems Manager, decrypted. */
export function openParameters(config: SSMClientConfig = {}): SecretReader {
  const client = new SSMClient({ ...CLIENT_OPTIONS, ...config })
  return {
    action: 'ssm:GetParameter',
    async read(arn) {
      return (await client.send(new GetParameterCommand({ Name: arn, WithDecryption: true }))).Parameter?.Value
    },
  }
}
