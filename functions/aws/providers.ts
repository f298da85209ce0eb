import type { Providers } from '../../shared/provider.ts'
import { createProviders } from '../providers/registry.ts'
import type { Core } from './world.ts'

/** The Providers port: the adapters sluice.yaml configures, as in every place. */
export function openProviders({ settings }: Pick<Core, 'settings'>): Providers {
  return createProviders(settings)
}
