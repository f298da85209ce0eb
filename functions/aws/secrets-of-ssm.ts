import type { Clock, Secrets } from '../../shared/world.ts'
import { keptSecrets } from './secrets/kept-secrets.ts'
import { openParameters } from './secrets/parameters.ts'

/** The Secrets port of a stage whose keys are parameters of Systems Manager. */
export function openSsmSecrets(core: { readonly clock: Clock }): Secrets {
  return keptSecrets(core, { ssm: openParameters() })
}
