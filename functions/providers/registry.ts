import { Fault } from '../../shared/errors.ts'
import type { Provider, Providers } from '../../shared/provider.ts'
import type { ProviderSettings } from '../../shared/provider-settings.ts'
import type { Settings } from '../../shared/settings.ts'
import { http } from './http.ts'
import { localProvider } from './local.ts'
import { ollama } from './ollama.ts'
import { openaiCompatible } from './openai-compatible.ts'
import { openRemote, type ReadKey } from './remote.ts'

type Openers = {
  readonly [T in ProviderSettings['type']]: (
    name: string,
    settings: Extract<ProviderSettings, { type: T }>,
    readKey: ReadKey,
  ) => Provider
}

/** A further provider type: its file here, its settings in shared/provider-settings.ts, a line here (the type demands it). */
const TYPES: Openers = {
  local: () => localProvider,
  ollama: (...given) => ollama(openRemote(...given)),
  'openai-compatible': (...given) => openaiCompatible(openRemote(...given)),
  http: (...given) => http(openRemote(...given)),
}

/**
 * The adapters sluice.yaml configures, by name. `local` always exists; a binding of that name replaces it. Keys are read
 * at the first dispatch that needs one, where the place keeps them.
 */
export function createProviders(settings: Pick<Settings, 'providers'>, readKey: ReadKey = noKeys): Providers {
  const adapters = new Map<string, Provider>([['local', localProvider]])
  for (const [name, provider] of Object.entries(settings.providers)) adapters.set(name, opened(name, provider, readKey))
  return { get: (name) => adapters.get(name), names: () => [...adapters.keys()] }
}

function opened<T extends ProviderSettings['type']>(
  name: string,
  settings: Extract<ProviderSettings, { type: T }>,
  readKey: ReadKey,
): Provider {
  const open: Openers[T] = TYPES[settings.type as T]
  return open(name, settings, readKey)
}

/** A function that only names providers carries no way to their keys. */
function noKeys(provider: string): never {
  const message = `Cannot ask provider "${provider}": this function has no way to its key. List port "secrets" in its line of shared/catalog.ts.`
  throw new Fault('Bug', 'port_not_listed', message)
}
