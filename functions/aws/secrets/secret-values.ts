import {
  GetSecretValueCommand,
  SecretsManagerClient,
  type SecretsManagerClientConfig,
} from '@aws-sdk/client-secrets-manager'
import { CLIENT_OPTIONS } from '../client-options.ts'
import type { SecretReader } from './kept-secrets.ts'

/** Secrets of Secrets Manager that are text. */
export function openSecretValues(config: SecretsManagerClientConfig = {}): SecretReader {
  const client = new SecretsManagerClient({ ...CLIENT_OPTIONS, ...config })
  return {
    action: 'secretsmanager:GetSecretValue',
    async read(arn) {
      return (await client.send(new GetSecretValueCommand({ SecretId: arn }))).SecretString
    },
  }
}
