import {
  GetSecretValueCommand,
  SecretsManagerClient,
  type SecretsManagerClientConfig,
} from '@aws-sdk/client-secrets-manager'
import { GetParameterCommand, SSMClient, type SSMClientConfig } from '@aws-sdk/client-ssm'
import { Fault } from '../../shared/errors.ts'
import type { Clock } from '../../shared/ports/host.ts'
import type { Secrets } from '../../shared/ports/secrets.ts'
import { CLIENT_OPTIONS, sdkFault } from './sdk.ts'

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

/** The Secrets port of a stage whose keys are parameters of Systems Manager. */
export function openSsmSecrets(core: { readonly clock: Clock }): Secrets {
  return keptSecrets(core, { ssm: openParameters() })
}

/** The Secrets port of a stage whose keys are secrets of Secrets Manager. */
export function openManagerSecrets(core: { readonly clock: Clock }): Secrets {
  return keptSecrets(core, { secretsmanager: openSecretValues() })
}

/** The Secrets port of a stage whose settings name no key. */
export function openNoSecrets(core: { readonly clock: Clock }): Secrets {
  return keptSecrets(core, {})
}

/** Rotation is seen after this long at the latest (docs/security.md, "How tokens and secrets travel"). */
const KEPT_MS = 300_000

interface Kept {
  readonly until: number
  readonly value: Promise<string>
}

/** Asks one service for the text under an ARN; undefined = there is none. */
interface SecretReader {
  readonly action: string
  read(arn: string): Promise<string | undefined>
}

/** By the service an ARN names; a bundle carries those its settings need. */
type SecretReaders = Readonly<Partial<Record<'ssm' | 'secretsmanager', SecretReader>>>

/** The Secrets port over these readers: kept for 300 s. A failed read is not kept; callers at the same time share one. */
function keptSecrets({ clock }: { readonly clock: Clock }, readers: SecretReaders): Secrets {
  const kept = new Map<string, Kept>()
  return {
    read({ secret }) {
      const known = kept.get(secret)
      if (known !== undefined && clock.now() < known.until) return known.value
      const value = fetchSecret(readers, secret)
      kept.set(secret, { until: clock.now() + KEPT_MS, value })
      value.catch(() => kept.delete(secret))
      return value
    },
  }
}

async function fetchSecret(readers: SecretReaders, arn: string): Promise<string> {
  const service = /^arn:aws[a-z-]*:(ssm|secretsmanager):/.exec(arn)?.[1]
  if (service !== 'ssm' && service !== 'secretsmanager') throw badRef()
  const reader = readers[service]
  if (reader === undefined) throw notCarried(service)
  try {
    return present(await reader.read(arn))
  } catch (error) {
    if (error instanceof Error && ABSENT.has(error.name)) throw missing(error)
    throw sdkFault(error, { doing: 'read a secret', action: reader.action })
  }
}

const ABSENT = new Set(['ParameterNotFound', 'ParameterVersionNotFound', 'ResourceNotFoundException'])

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

function badRef(): Fault {
  const message =
    'Cannot read a secret: its reference is not the ARN of a Systems Manager parameter or a Secrets Manager secret. Write key: {secret: arn:aws:ssm:..} or {secret: arn:aws:secretsmanager:..}.'
  return new Fault('InvalidInput', 'bad_secret_ref', message)
}

function notCarried(service: string): Fault {
  const message = `Cannot read a secret: this deployment's settings name none of ${service}, so its functions carry no client of it. Deploy again.`
  return new Fault('Bug', 'port_not_listed', message)
}

/** Parameters of Systems Manager, decrypted. */
function openParameters(config: SSMClientConfig = {}): SecretReader {
  const client = new SSMClient({ ...CLIENT_OPTIONS, ...config })
  return {
    action: 'ssm:GetParameter',
    async read(arn) {
      return (await client.send(new GetParameterCommand({ Name: arn, WithDecryption: true }))).Parameter?.Value
    },
  }
}

/** Secrets of Secrets Manager that are text. */
function openSecretValues(config: SecretsManagerClientConfig = {}): SecretReader {
  const client = new SecretsManagerClient({ ...CLIENT_OPTIONS, ...config })
  return {
    action: 'secretsmanager:GetSecretValue',
    async read(arn) {
      return (await client.send(new GetSecretValueCommand({ SecretId: arn }))).SecretString
    },
  }
}
