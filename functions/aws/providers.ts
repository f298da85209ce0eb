import { Fault } from '../../shared/errors.ts'
import type { Providers } from '../../shared/provider.ts'
import { createProviders } from '../providers/registry.ts'
import type { ReadKey } from '../providers/remote.ts'
import type { Core } from './world.ts'

/** The Providers port of functions that dispatch: the adapters of the settings, as in every place; keys come from the Secrets port. */
export function openProviders({ settings, secrets }: Pick<Core, 'settings' | 'secrets'>): Providers {
  return secrets === undefined ? createProviders(settings) : createProviders(settings, keysFrom(secrets))
}

function keysFrom(secrets: NonNullable<Core['secrets']>): ReadKey {
  return async (provider, { secret }) => {
    if (secret !== undefined) return secrets.read({ secret })
    const message = `Cannot ask provider "${provider}": on AWS its key is read from Secrets Manager or Systems Manager, and its settings name none. Add secret: ARN to providers.*.key and deploy again.`
    throw new Fault('InvalidInput', 'provider_key_missing', message, { facts: { provider } })
  }
}
