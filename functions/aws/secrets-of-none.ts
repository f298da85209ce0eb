import type { Clock, Secrets } from '../../shared/world.ts'
import { keptSecrets } from './secrets/kept-secrets.ts'

/** The Secrets port of a stage whose settings name no key. */
export function openNoSecrets(core: { readonly clock: Clock }): Secrets {
  return keptSecrets(core, {})
}
