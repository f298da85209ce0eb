import type { SecretsManagerClientConfig } from '@aws-sdk/client-secrets-manager'
import type { SSMClientConfig } from '@aws-sdk/client-ssm'
import type { Clock, Secrets } from '../../shared/world.ts'
import { keptSecrets } from './secrets/kept-secrets.ts'
import { openParameters } from './secrets/parameters.ts'
import { openSecretValues } from './secrets/secret-values.ts'

/**
 * The Secrets port: `{secret: ARN}` of a Systems Manager parameter or a Secrets Manager secret, read with the
 * function's own role. Of a stage whose settings name only one of the two, or none, bundles carry the others beside
 * this file: a client is 15 to 80 KB.
 */
export function openSecrets(
  core: { readonly clock: Clock },
  config: SSMClientConfig & SecretsManagerClientConfig = {},
): Secrets {
  return keptSecrets(core, { ssm: openParameters(config), secretsmanager: openSecretValues(config) })
}
