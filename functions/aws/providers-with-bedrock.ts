import type { Providers } from '../../shared/provider.ts'
import { openBedrock } from './bedrock.ts'
import { openProviders } from './providers.ts'

/** The Providers port where the settings name a provider of type bedrock: only then is its client in the bundle. */
export function openProvidersWithBedrock(core: Parameters<typeof openProviders>[0]): Providers {
  return openProviders(core, { bedrock: openBedrock })
}
