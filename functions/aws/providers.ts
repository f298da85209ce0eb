import { Fault } from '../../shared/errors.ts'
import type { Providers } from '../../shared/providers/provider.ts'
import { type Adapters, createProviders, type ProviderPlace } from '../providers/registry.ts'
import type { ReadKey } from '../providers/remote.ts'
import type { Core } from './core.ts'
import { openObjects } from './objects.ts'

/**
 * The Providers port of functions that dispatch: the adapters of the settings, as in every place; keys come from the
 * Secrets port, recordings from the object store. `more` is what only some deployments carry.
 */
export function openProviders(
  core: Pick<Core, 'settings' | 'secrets' | 'env'>,
  more: Pick<ProviderPlace, 'adapters' | 'loadPackage'> = {},
): Providers {
  const { settings, secrets } = core
  const readKey = secrets === undefined ? {} : { readKey: keysFrom(secrets) }
  return createProviders(settings, { ...readKey, readRecord: (ref) => readObject(core, ref), ...more })
}

function keysFrom(secrets: NonNullable<Core['secrets']>): ReadKey {
  return async (provider, { secret }) => {
    if (secret !== undefined) return secrets.read({ secret })
    const message = `Cannot ask provider "${provider}": on AWS its key is read from Secrets Manager or Systems Manager, and its settings name none. Add secret: ARN to providers.*.key and deploy again.`
    throw new Fault('InvalidInput', 'provider_key_missing', message, { facts: { provider } })
  }
}

/** Recordings are objects of the tenant whose run was recorded; the operator's settings name them. */
async function readObject(core: Pick<Core, 'env'>, ref: string): Promise<Uint8Array> {
  const [tenant = ''] = ref.replace(/^objstore:\/\//, '').split('/')
  return openObjects(core).get(tenant, ref)
}

/**
 * The Providers port where the settings name types whose adapters need a package: they, and the packages of the project, are in
 * the bundle then, and only then.
 */
export function openProvidersWith(adapters: Adapters, packages: Readonly<Record<string, object>> = {}) {
  const loadPackage = async (name: string, from: string) => {
    const found = Object.hasOwn(packages, from) ? packages[from] : undefined
    if (found !== undefined) return found
    const message = `Cannot ask provider "${name}": its package "${from}" is not in this deployment. Deploy again.`
    throw new Fault('Bug', 'port_not_listed', message)
  }
  return (core: Parameters<typeof openProviders>[0]): Providers => openProviders(core, { adapters, loadPackage })
}
