import type { Clock, Secrets } from '../../shared/world.ts'
import { keptSecrets } from './secrets/kept-secrets.ts'
import { openSecretValues } from './secrets/secret-values.ts'

/** The Secrets port of a stage whose keys are secrets of Secrets Manager. */
export function openManagerSecrets(core: { readonly clock: Clock }): Secrets {
  return keptSecrets(core, { secretsmanager: openSecretValues() })
}
