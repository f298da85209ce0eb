import { BREAKER } from '../../shared/breaker.ts'
import { Fault } from '../../shared/errors.ts'
import { type Pricing, priceAt } from '../../shared/price-at.ts'
import type { Provider, Providers } from '../../shared/provider.ts'
import type { BedrockSettings, ProviderSettings } from '../../shared/provider-settings.ts'
import { breakCircuit } from './break-circuit.ts'
import { extractiveProvider } from './extractive.ts'
import { http } from './http.ts'
import { localProvider } from './local.ts'
import { ollama } from './ollama.ts'
import { openaiCompatible } from './openai-compatible.ts'
import { openclaw } from './openclaw.ts'
import { openRemote, type ReadKey, type ReadPrice } from './remote.ts'
import { type ReadRecord, replay } from './replay.ts'

/** Opens the adapter of Bedrock, which needs a client of AWS: the place brings it, loaded when a provider asks for it. */
export type OpenBedrock = (name: string, settings: BedrockSettings, price: ReadPrice) => Provider | Promise<Provider>

/** What a place knows that settings do not say; what is missing is refused when a dispatch needs it. */
export interface ProviderPlace {
  readonly readKey?: ReadKey
  readonly readRecord?: ReadRecord
  readonly bedrock?: OpenBedrock
}

interface Brought extends Required<ProviderPlace> {
  readonly price: ReadPrice
}

type Openers = {
  readonly [T in ProviderSettings['type']]: (
    name: string,
    settings: Extract<ProviderSettings, { type: T }>,
    place: Brought,
  ) => Provider
}

/** A further provider type: its file here, its settings in shared/provider-settings.ts, a line here (the type demands it). */
const TYPES: Openers = {
  local: () => localProvider,
  ollama: (name, settings, place) => ollama(openRemote(name, settings, place)),
  'openai-compatible': (name, settings, place) => openaiCompatible(openRemote(name, settings, place)),
  openclaw: (name, settings, place) => openclaw(openRemote(name, settings, place)),
  http: (name, settings, place) => http(openRemote(name, settings, place)),
  bedrock: (name, settings, { bedrock, price }) => whenAsked(async () => bedrock(name, settings, price)),
  replay: (name, { record }, { readRecord }) => replay(name, record, readRecord),
}

/**
 * The adapters sluice.yaml configures, by name. Those of PLACE_PROVIDERS always exist; a binding of the name replaces one. Keys are read
 * at the first dispatch that needs one, where the place keeps them.
 */
export function createProviders(settings: Pricing, place: ProviderPlace = {}): Providers {
  const adapters = new Map<string, Provider>([
    ['local', localProvider],
    ['extractive', extractiveProvider],
  ])
  const price: ReadPrice = (name, asked, answered) => priceAt(settings, name, asked, answered)
  const brought = { ...NOTHING, ...place, price }
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
  place: Brought,
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
