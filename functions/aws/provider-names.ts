import { Fault } from '../../shared/errors.ts'
import { PLACE_PROVIDERS, type Providers } from '../../shared/provider.ts'
import type { Core } from './world.ts'

/** The Providers port of functions that check documents and never dispatch: names, no adapter. */
export function openProviderNames({ settings }: Pick<Core, 'settings'>): Providers {
  const names = [...new Set([...PLACE_PROVIDERS, ...Object.keys(settings.providers)])]
  return { names: () => names, get: refuse }
}

function refuse(name: string): never {
  const message = `Cannot ask provider "${name}": this function only names providers. List port "secrets" in its line of shared/catalog.ts and deploy.`
  throw new Fault('Bug', 'port_not_listed', message)
}
