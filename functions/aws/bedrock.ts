import { BedrockRuntimeClient, ConverseCommand, ConverseStreamCommand } from '@aws-sdk/client-bedrock-runtime'
import { priceOf } from '../../shared/prices.ts'
import type { DispatchRequest, Provider } from '../../shared/provider.ts'
import type { BedrockSettings } from '../../shared/provider-settings.ts'
import { measured } from '../providers/measured.ts'
import { DEFAULT_TIMEOUT_MS, type ReadPrice } from '../providers/remote.ts'
import { refusedFault } from '../providers/status-fault.ts'
import { type SilenceWatch, watchSilence } from '../providers/watch-silence.ts'
import { converseFault } from './bedrock/converse-fault.ts'
import { converseInput, giveUp, type Ways } from './bedrock/converse-input.ts'
import { type Conversed, readConverse, readConverseStream } from './bedrock/read-converse.ts'

/**
 * Models of Amazon Bedrock, by Converse: the answer is read as a stream where the model has one. Credentials are those
 * the place runs with (on AWS the function's own role), never of the settings. A model that knows no stream, no tools or
 * no system text refuses once with ValidationException; it is asked again without, within the same attempt, and its ways
 * are remembered. The SDK never tries again by itself: retries are the block's.
 */
export function openBedrock(name: string, settings: BedrockSettings, price: ReadPrice): Provider {
  const { region, endpoint, timeout_ms = DEFAULT_TIMEOUT_MS, idle_ms } = settings
  const client = new BedrockRuntimeClient({
    maxAttempts: 1,
    ...(region === undefined ? {} : { region }),
    ...(endpoint === undefined ? {} : { endpoint }),
  })
  const known = new Map<string, Ways>()
  const talk: Talk = { name, client, known, limits: { timeout_ms, ...(idle_ms === undefined ? {} : { idle_ms }) } }
  return {
    async dispatch(request) {
      request.signal.throwIfAborted()
      const { text, usage, stop_reason } = await bounded(talk, request)
      if (REFUSALS.has(stop_reason)) throw refusedFault({ name }, stop_reason.replaceAll('_', ' '))
      const { model } = request
      // Settings without a region are those of the place: only the client knows it.
      const rate =
        price(name, model) ?? priceOf({ type: 'bedrock', url: '', region: await client.config.region(), model })
      return { text, ...measured(request, text, usage, rate), model, finish_reason: stop_reason }
    },
  }
}

/** Bedrock's words for an answer that a filter of the model, or a guardrail, put in the place of the model's own. */
const REFUSALS: ReadonlySet<string> = new Set(['content_filtered', 'guardrail_intervened'])

interface Talk {
  readonly name: string
  readonly client: BedrockRuntimeClient
  /** By model. */
  readonly known: Map<string, Ways>
  readonly limits: { readonly timeout_ms: number; readonly idle_ms?: number }
}

/** One dispatch, which its signal, the provider's time and its silence end at once: the stream is closed with it. */
async function bounded(talk: Talk, request: DispatchRequest): Promise<Conversed> {
  const { name, limits } = talk
  const done = new AbortController()
  const silence = watchSilence(limits.idle_ms)
  const late = AbortSignal.timeout(limits.timeout_ms)
  const signal = AbortSignal.any([request.signal, late, silence.signal, done.signal])
  const aborted = Promise.withResolvers<never>()
  signal.addEventListener('abort', () => aborted.reject(signal.reason), { once: true })
  try {
    return await Promise.race([converse(talk, request, signal, silence), aborted.promise])
  } catch (error) {
    if (request.signal.aborted) throw request.signal.reason
    throw converseFault({ name, ...limits }, { error, late: late.aborted, silent: silence.signal.aborted })
  } finally {
    silence.end()
    aborted.promise.catch(() => undefined)
    done.abort()
  }
}

/** Each refusal of a feature gives it up, so this ends. */
async function converse(
  talk: Talk,
  request: DispatchRequest,
  signal: AbortSignal,
  silence: SilenceWatch,
): Promise<Conversed> {
  for (;;) {
    const ways = talk.known.get(request.model) ?? { stream: true, tools: true, system: true }
    try {
      return await ask(talk, request, ways, { signal, silence })
    } catch (error) {
      const less = giveUp(ways, request, error)
      if (less === undefined || signal.aborted) throw error
      talk.known.set(request.model, less)
    }
  }
}

async function ask(
  { name, client }: Talk,
  request: DispatchRequest,
  ways: Ways,
  { signal, silence }: { readonly signal: AbortSignal; readonly silence: SilenceWatch },
): Promise<Conversed> {
  const input = converseInput(name, request, ways)
  const options = { abortSignal: signal }
  if (!ways.stream) return readConverse({ name }, await client.send(new ConverseCommand(input), options))
  const { stream } = await client.send(new ConverseStreamCommand(input), options)
  silence.heard()
  return readConverseStream({ name }, stream, silence.heard)
}
