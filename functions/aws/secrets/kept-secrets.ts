import { Fault } from '../../../shared/errors.ts'
import type { Clock, Secrets } from '../../../shared/world.ts'
import { sdkFault } from '../sdk-fault.ts'

/** Rotation is seen after this long at the latest (docs/security.md, "How tokens and secrets travel"). */
const KEPT_MS = 300_000

interface Kept {
  readonly until: number
  readonly value: Promise<string>
}

/** Asks one service for the text under an ARN; undefined = there is none. */
export interface SecretReader {
  readonly action: string
  read(arn: string): Promise<string | undefined>
}

/** By the service an ARN names; a bundle carries those its settings need. */
export type SecretReaders = Readonly<Partial<Record<'ssm' | 'secretsmanager', SecretReader>>>

/** The Secrets port over these readers: kept for 300 s. A failed read is not kept; callers at the same time share one. */
export function keptSecrets({ clock }: { readonly clock: Clock }, readers: SecretReaders): Secrets {
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
