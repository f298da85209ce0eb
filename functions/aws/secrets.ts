import {
  GetSecretValueCommand,
  SecretsManagerClient,
  type SecretsManagerClientConfig,
} from '@aws-sdk/client-secrets-manager'
import { GetParameterCommand, SSMClient, type SSMClientConfig } from '@aws-sdk/client-ssm'
import { Fault } from '../../shared/errors.ts'
import type { Clock, Secrets } from '../../shared/world.ts'
import { CLIENT_OPTIONS } from './client-options.ts'
import { sdkFault } from './sdk-fault.ts'

/** Rotation is seen after this long at the latest (spec security, "AWS"). */
const KEPT_MS = 300_000

interface Kept {
  readonly until: number
  readonly value: Promise<string>
}

/**
 * The Secrets port: `{secret: ARN}` of a Systems Manager parameter or a Secrets Manager secret, read with the
 * function's own role and kept for 300 s. A failed read is not kept; callers at the same time share one.
 */
export function openSecrets(
  { clock }: { readonly clock: Clock },
  config: SSMClientConfig & SecretsManagerClientConfig = {},
): Secrets {
  const clients = {
    ssm: new SSMClient({ ...CLIENT_OPTIONS, ...config }),
    secretsmanager: new SecretsManagerClient({ ...CLIENT_OPTIONS, ...config }),
  }
  const kept = new Map<string, Kept>()
  return {
    read({ secret }) {
      const known = kept.get(secret)
      if (known !== undefined && clock.now() < known.until) return known.value
      const value = fetchSecret(clients, secret)
      kept.set(secret, { until: clock.now() + KEPT_MS, value })
      value.catch(() => kept.delete(secret))
      return value
    },
  }
}

interface Clients {
  readonly ssm: SSMClient
  readonly secretsmanager: SecretsManagerClient
}

async function fetchSecret(clients: Clients, arn: string): Promise<string> {
  const service = /^arn:aws[a-z-]*:(ssm|secretsmanager):/.exec(arn)?.[1]
  if (service === 'ssm') return parameter(clients.ssm, arn)
  if (service === 'secretsmanager') return secretValue(clients.secretsmanager, arn)
  const message =
    'Cannot read a secret: its reference is not the ARN of a Systems Manager parameter or a Secrets Manager secret. Write key: {secret: arn:aws:ssm:..} or {secret: arn:aws:secretsmanager:..}.'
  throw new Fault('InvalidInput', 'bad_secret_ref', message)
}

async function parameter(client: SSMClient, arn: string): Promise<string> {
  try {
    const { Parameter } = await client.send(new GetParameterCommand({ Name: arn, WithDecryption: true }))
    return present(Parameter?.Value)
  } catch (error) {
    throw faultOf(error, 'ssm:GetParameter')
  }
}

async function secretValue(client: SecretsManagerClient, arn: string): Promise<string> {
  try {
    const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: arn }))
    return present(SecretString)
  } catch (error) {
    throw faultOf(error, 'secretsmanager:GetSecretValue')
  }
}

const ABSENT = new Set(['ParameterNotFound', 'ParameterVersionNotFound', 'ResourceNotFoundException'])

function faultOf(error: unknown, action: string): Fault {
  if (error instanceof Error && ABSENT.has(error.name)) return missing(error)
  return sdkFault(error, { doing: 'read a secret', action })
}

/** A secret of bytes, or one being deleted, has no text. */
function present(text: string | undefined): string {
  if (text === undefined || text === '') throw missing()
  return text
}

function missing(cause?: unknown): Fault {
  const message =
    'Cannot read a secret: there is no text under its ARN. Store the value there, or mend the ARN in sluice.yaml.'
  return new Fault('NotFound', 'secret_missing', message, { cause })
}
