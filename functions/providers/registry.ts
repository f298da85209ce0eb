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
import { NOT_ASKED, type Provider, type Providers } from '../../shared/providers/provider.ts'
import type { BedrockSettings, ProviderSettings } from '../../shared/providers/settings.ts'
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

interface BroughtByPlace extends Required<ProviderPlace> {
  readonly price: ReadPrice
}

type Openers = {
  readonly [T in ProviderSettings['type']]: (
    name: string,
    settings: Extract<ProviderSettings, { type: T }>,
    place: BroughtByPlace,
  ) => Provider
}

/** A further provider type: its file here, its settings in shared/providers/settings.ts, a line here (the type demands it). */
const TYPES: Openers = {
  local: () => localProvider,
  ollama: (name, settings, place) => ollama(openRemote(name, settings, place)),
  'openai-compatible': (name, settings, place) => openaiCompatible(openRemote(name, settings, place)),
  openclaw: (name, settings, place) => openclaw(openRemote(name, settings, place)),
  http: (name, settings, place) => http(openRemote(name, settings, place)),
  bedrock: (name, settings, { bedrock, price }) => openedWhenAsked(async () => bedrock(name, settings, price)),
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

/** Opened by the first dispatch; one that failed to is opened anew by the next. */
function openedWhenAsked(open: () => Promise<Provider>): Provider {
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
