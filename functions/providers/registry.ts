import { Fault } from '../../shared/errors.ts'
import {
  admitCall,
  BREAKER,
  type Breaker,
  type BreakerPolicy,
  breakerAfter,
  type CallOutcome,
} from '../../shared/providers/circuit-breaker.ts'
import { modelPriceAt, type Pricing } from '../../shared/providers/model-prices.ts'
import { NOT_ASKED, type PROVIDER_FILES, type Provider, type Providers } from '../../shared/providers/provider.ts'
import type { ProviderSettings } from '../../shared/providers/settings.ts'
import { extractiveProvider } from './extractive.ts'
import { http } from './http.ts'
import { localProvider } from './local.ts'
import { ollama } from './ollama.ts'
import { embedCompletions } from './openai-embeddings.ts'
import { openRemote, type ReadKey, type ReadPrice, type RemotePlace } from './remote.ts'
import { type ReadRecord, replay } from './replay.ts'

/** Types whose adapters need a package of others (PROVIDER_FILES of shared/providers/provider.ts). */
type LoadedType = keyof typeof PROVIDER_FILES

type SettingsOf<T extends ProviderSettings['type']> = Extract<ProviderSettings, { type: T }>

/** What loads a package, or a module, of the project: its exports. */
export type LoadPackage = (provider: string, from: string) => Promise<object>

interface AdapterPlace extends RemotePlace {
  readonly loadPackage: LoadPackage
}

/** Opens an adapter that its place brings, loaded when a provider asks for it. */
export type OpenAdapter<T extends LoadedType> = (
  name: string,
  settings: SettingsOf<T>,
  place: AdapterPlace,
) => Provider | Promise<Provider>

/** Those a place brings: an adapter of a type it brings none of is refused when a dispatch needs it. */
export type Adapters = { readonly [T in LoadedType]?: OpenAdapter<T> }

/** What a place knows that settings do not say; what is missing is refused when a dispatch needs it. */
export interface ProviderPlace {
  readonly readKey?: ReadKey
  readonly readRecord?: ReadRecord
  readonly loadPackage?: LoadPackage
  readonly adapters?: Adapters
}

interface BroughtByPlace extends Required<ProviderPlace> {
  readonly price: ReadPrice
}

type Openers = {
  readonly [T in ProviderSettings['type']]: (name: string, settings: SettingsOf<T>, place: BroughtByPlace) => Provider
}

/** A further provider type: its file here, its settings in shared/providers/settings.ts, a line here (the type demands it). */
const TYPES: Openers = {
  local: () => localProvider,
  ollama: (name, settings, place) => ollama(openRemote(name, settings, place)),
  'openai-compatible': (name, settings, place) => ({
    ...brought('openai-compatible', name, settings, place),
    embed: embedCompletions(openRemote(name, settings, place)),
  }),
  openai: (name, settings, place) => ({
    ...brought('openai', name, settings, place),
    embed: embedCompletions(openRemote(name, settings, place)),
  }),
  anthropic: (...given) => brought('anthropic', ...given),
  google: (...given) => brought('google', ...given),
  'ai-sdk': (...given) => brought('ai-sdk', ...given),
  openclaw: (...given) => brought('openclaw', ...given),
  http: (name, settings, place) => http(openRemote(name, settings, place)),
  bedrock: (...given) => brought('bedrock', ...given),
  replay: (name, { record }, { readRecord }) => replay(name, record, readRecord),
}

/** An adapter of the place's, opened by the first dispatch; one that failed to is opened anew by the next. */
function brought<T extends LoadedType>(
  type: T,
  name: string,
  settings: SettingsOf<T>,
  place: BroughtByPlace,
): Provider {
  const open: OpenAdapter<T> | undefined = place.adapters[type]
  let adapter: Promise<Provider> | undefined
  return {
    async dispatch(request) {
      request.signal.throwIfAborted()
      if (open === undefined) {
        noWay(name, `a server of type "${type}". The settings of this deployment name no such provider; deploy again.`)
      }
      adapter ??= Promise.resolve(open(name, settings, place))
      const provider = await adapter.catch((error: unknown) => {
        adapter = undefined
        throw error
      })
      return provider.dispatch(request)
    },
  }
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
  const price: ReadPrice = (name, asked, answered) => modelPriceAt(settings, name, asked, answered)
  const brought = { ...NOTHING, ...place, price }
  for (const [name, provider] of Object.entries(settings.providers)) {
    const adapter = opened(name, provider, brought)
    const policy = 'breaker' in provider ? provider.breaker : undefined
    adapters.set(name, isHere(provider) ? adapter : withCircuitBreaker(name, adapter, policy ?? BREAKER))
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
  place: BroughtByPlace,
): Provider {
  const open: Openers[T] = TYPES[settings.type as T]
  return open(name, settings, place)
}

/** A function that only names providers carries no way to ask them. */
const NOTHING: Required<ProviderPlace> = {
  readKey: (name) => noWay(name, 'its key. List port "secrets" in its line of shared/catalog.ts.'),
  readRecord: () => noWay('replay', 'its recording. List port "objects" in its line of shared/catalog.ts.'),
  loadPackage: (name) => noWay(name, 'its package. The settings of this deployment name none; deploy again.'),
  adapters: {},
}

function noWay(provider: string, what: string): never {
  throw new Fault('Bug', 'port_not_listed', `Cannot ask provider "${provider}": this function has no way to ${what}`)
}

/**
 * The same provider behind a circuit breaker: after `failures` in a row of not being there it is left alone for
 * `open_ms` (provider_unavailable at once, which says when to come back), then one call is let through to see. What is
 * known lives in this process: each sandbox learns for itself.
 */
export function withCircuitBreaker(
  name: string,
  provider: Provider,
  policy: BreakerPolicy,
  now: () => number = () => performance.now(),
): Provider {
  let breaker: Breaker | undefined
  const learn = (outcome: CallOutcome) => {
    breaker = breakerAfter(breaker, outcome, policy, now())
  }
  const guarded = async <T>(signal: AbortSignal, ask: () => Promise<T>): Promise<T> => {
    signal.throwIfAborted()
    const admission = admitCall(breaker, policy, now())
    if (!admission.admitted) throw leftAlone(name, policy, admission.retry_after_ms)
    breaker = admission.next
    try {
      const answer = await ask()
      learn('answered')
      return answer
    } catch (error) {
      learn(outcomeOf(error))
      throw error
    }
  }
  const { embed } = provider
  return {
    dispatch: (request) => guarded(request.signal, () => provider.dispatch(request)),
    ...(embed === undefined ? {} : { embed: (request) => guarded(request.signal, () => embed(request)) }),
  }
}

/** A dispatch that ran into its block's time is a provider that does not answer; one that was stopped says nothing. */
const AWAY = new Set(['provider_unavailable', 'provider_timeout', 'block_timeout'])
const ANSWERED = new Set(['provider_throttled', 'provider_refused', 'provider_invalid'])

function outcomeOf(error: unknown): CallOutcome {
  if (!(error instanceof Fault)) return 'unknown'
  if (AWAY.has(error.code)) return 'away'
  return ANSWERED.has(error.code) ? 'answered' : 'unknown'
}

function leftAlone(provider: string, { failures }: BreakerPolicy, retry_after_ms: number): Fault {
  const seconds = Math.max(1, Math.round(retry_after_ms / 1_000))
  const message = `Provider "${provider}" is not asked for another ${seconds} s: it failed ${failures} times in a row (breaker). Is its server running?`
  return new Fault('Unavailable', 'provider_unavailable', message, {
    facts: { provider, retry_after_ms, [NOT_ASKED]: true },
  })
}
