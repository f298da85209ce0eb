import type { Provider, Providers } from '../../shared/provider.ts'
import type { Settings } from '../../shared/settings.ts'
import { localProvider } from './local.ts'

type ProviderSettings = Settings['providers'][string]

/** A further provider type: its file here, its name in shared/settings.ts, a line here (the type demands it). */
const TYPES: Readonly<Record<ProviderSettings['type'], (settings: ProviderSettings) => Provider>> = {
  local: () => localProvider,
}

/** The adapters sluice.yaml configures, by name. `local` always exists; a binding of that name replaces it. */
export function createProviders(settings: Settings): Providers {
  const adapters = new Map<string, Provider>([['local', localProvider]])
  for (const [name, provider] of Object.entries(settings.providers)) adapters.set(name, TYPES[provider.type](provider))
  return { get: (name) => adapters.get(name), names: () => [...adapters.keys()] }
}
