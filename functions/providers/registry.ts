import { BREAKER } from '../../shared/breaker.ts'
import { Fault } from '../../shared/errors.ts'
import type { Provider, Providers } from '../../shared/provider.ts'
import type { BedrockSettings, ProviderSettings } from '../../shared/provider-settings.ts'
import type { Settings } from '../../shared/settings.ts'
import { breakCircuit } from './break-circuit.ts'
import { extractiveProvider } from './extractive.ts'
import { http } from './http.ts'
import { localProvider } from './local.ts'
import { ollama } from './ollama.ts'
import { openaiCompatible } from './openai-compatible.ts'
import { openclaw } from './openclaw.ts'
import { openRemote, type ReadKey } from './remote.ts'
import { type ReadRecord, replay } from './replay.ts'

/** Opens the adapter of Bedrock, which needs a client of AWS: the place brings it, loaded when a provider asks for it. */
export type OpenBedrock = (name: string, settings: BedrockSettings) => Provider | Promise<Provider>

/** What a place knows that settings do not say; what is missing is refused when a dispatch needs it. */
export interface ProviderPlace {
  readonly readKey?: ReadKey
  readonly readRecord?: ReadRecord
  readonly bedrock?: OpenBedrock
}

type Openers = {
  readonly [T in ProviderSettings['type']]: (
    name: string,
    settings: Extract<ProviderSettings, { type: T }>,
    place: Required<ProviderPlace>,
  ) => Provider
}

/** A further provider type: its file here, its settings in shared/provider-settings.ts, a line here (the type demands it). */
const TYPES: Openers = {
  local: () => localProvider,
  ollama: (name, settings, { readKey }) => ollama(openRemote(name, settings, readKey)),
  'openai-compatible': (name, settings, { readKey }) => openaiCompatible(openRemote(name, settings, readKey)),
  openclaw: (name, settings, { readKey }) => openclaw(openRemote(name, settings, readKey)),
  http: (name, settings, { readKey }) => http(openRemote(name, settings, readKey)),
  bedrock: (name, settings, { bedrock }) => whenAsked(async () => bedrock(name, settings)),
  replay: (name, { record }, { readRecord }) => replay(name, record, readRecord),
}

/**
 * The adapters sluice.yaml configures, by name. Those of PLACE_PROVIDERS always exist; a binding of the name replaces one. Keys are read
 * at the first dispatch that needs one, where the place keeps them.
 */
export function createProviders(settings: Pick<Settings, 'providers'>, place: ProviderPlace = {}): Providers {
  const adapters = new Map<string, Provider>([
    ['local', localProvider],
    ['extractive', extractiveProvider],
  ])
  const brought = { ...NOTHING, ...place }
  for (const [name, provider] of Object.entries(settings.providers)) {
    const adapter = opened(name, provider, brought)
    const policy = 'breaker' in provider ? provider.breaker : undefined
    adapters.set(name, isHere(provider) ? adapter : breakCircuit(name, adapter, policy ?? BREAKER))
  }
  return { get: (name) => adapters.get(name), names: () => [...adapters.keys()] }
}

/** What needs no network is never away. */
function isHere({ type }: ProviderSettings): boolean {
  return type === 'local' || type === 'replay'
}

function opened<T extends ProviderSettings['type']>(
  name: string,
  settings: Extract<ProviderSettings, { type: T }>,
  place: Required<ProviderPlace>,
): Provider {
  const open: Openers[T] = TYPES[settings.type as T]
  return open(name, settings, place)
}

/** Opened by the first dispatch; one that failed to is opened anew by the next. */
function whenAsked(open: () => Promise<Provider>): Provider {
  let adapter: Promise<Provider> | undefined
  return {
    async dispatch(request) {
      request.signal.throwIfAborted()
      adapter ??= open()
      const provider = await adapter.catch((error: unknown) => {
        adapter = undefined
        throw error
      })
      return provider.dispatch(request)
    },
  }
}

/** A function that only names providers carries no way to ask them. */
const NOTHING: Required<ProviderPlace> = {
  readKey: (name) => noWay(name, 'its key. List port "secrets" in its line of shared/catalog.ts.'),
  readRecord: () => noWay('replay', 'its recording. List port "objects" in its line of shared/catalog.ts.'),
  bedrock: (name) =>
    noWay(name, 'Amazon Bedrock. The settings of this deployment name no such provider; deploy again.'),
}

function noWay(provider: string, what: string): never {
  throw new Fault('Bug', 'port_not_listed', `Cannot ask provider "${provider}": this function has no way to ${what}`)
}
