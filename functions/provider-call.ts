import { Fault } from '../shared/errors.ts'
import { costMicros } from '../shared/plan/call-estimate.ts'
import type { Price } from '../shared/providers/model-prices.ts'
import type { DispatchAnswer, DispatchRequest, Provider } from '../shared/providers/provider.ts'
import { type RecordedCallWithPrompt, recordedCallWithPrompt } from '../shared/providers/recording.ts'
import type { RunKey } from '../shared/runs/run-store.ts'
import type { Asked, CallOrigin } from '../shared/telemetry/telemetry-port.ts'
import { canonicalJson } from '../shared/text/json.ts'
import type { World } from '../shared/world.ts'

export interface Caller {
  readonly world: World
  readonly run: RunKey
}

/** The same provider, whose calls are told to the place's telemetry when they are over; without one it is itself. */
export function tracedProvider(
  { telemetry, clock }: Pick<World, 'telemetry' | 'clock'>,
  name: string,
  provider: Provider | undefined,
  place: () => CallOrigin,
): Provider | undefined {
  if (provider === undefined || telemetry === undefined) return provider
  const traced = async <A>(ask: () => Promise<A>, asked: (answer?: A) => Asked): Promise<A> => {
    const began = clock.now()
    const told = { at: place(), provider: name, began }
    try {
      const answer = await ask()
      telemetry.called({ ...told, asked: asked(answer), ended: clock.now() })
      return answer
    } catch (error) {
      telemetry.called({ ...told, asked: asked(), error, ended: clock.now() })
      throw error
    }
  }
  const { embed } = provider
  return {
    dispatch: (request) =>
      traced(
        () => provider.dispatch(request),
        (answer) => ({ operation: 'chat', request, ...(answer === undefined ? {} : { answer }) }),
      ),
    ...(embed === undefined
      ? {}
      : {
          embed: (request) =>
            traced(
              () => embed(request),
              (answer) => ({ operation: 'embeddings', request, ...(answer === undefined ? {} : { answer }) }),
            ),
        }),
  }
}

/** The same provider, whose answers are also put into `calls`, as they came, with what was asked. */
export function recordingProvider(
  name: string,
  provider: Provider | undefined,
  calls: RecordedCallWithPrompt[],
): Provider | undefined {
  if (provider === undefined) return undefined
  return {
    async dispatch(request) {
      const answer = await provider.dispatch(request)
      calls.push(recordedCallWithPrompt(name, request, answer))
      return answer
    },
  }
}

/** Stores the answers as one object, whose ref goes into the event that tells of them: what a recording is made of. */
export async function storeAnswers(
  { world, run }: Caller,
  calls: readonly RecordedCallWithPrompt[],
): Promise<{ readonly raw_ref?: string }> {
  if (calls.length === 0) return {}
  const { ref } = await world.objects.put(run.tenant, Buffer.from(canonicalJson({ v: 1, calls })))
  return { raw_ref: ref }
}

/** More than this no call costs. */
const MOST_USD = 1_000_000

/**
 * An answer as it is counted. Counts are as a server sent them: what is no amount is none, and no price is an unknown
 * one. Under a cap no answer is free because its server did not count: what the table makes of the tokens stands for it.
 */
export function chargedAnswer(answer: DispatchAnswer, { capped, price }: Charging): DispatchAnswer {
  const { usd, ...said } = answer
  const tokens = { tokens_in: toTokenCount(said.tokens_in), tokens_out: toTokenCount(said.tokens_out) }
  const isPriced = usd !== undefined && usd >= 0
  const counted = { ...said, ...tokens, ...(isPriced ? { usd: Math.min(usd, MOST_USD) } : {}) }
  const micros = capped && !isPriced ? costMicros(counted, price) : undefined
  return micros === undefined ? counted : { ...counted, usd: micros / 1_000_000 }
}

/** A call that was given up in the middle, or whose answer was no use: nobody knows what it used. */
export function mayHaveUsed(error: unknown, { signal }: Pick<DispatchRequest, 'signal'>): boolean {
  if (signal.aborted) return true
  return error instanceof Fault && (error.code === 'provider_timeout' || error.code === 'provider_invalid')
}

interface Charging {
  /** A cap holds for the call. */
  readonly capped: boolean
  readonly price: Price | undefined
}

/** More than this one call never used: what a provider that counts nonsense can do to a ledger. */
const MOST_TOKENS = 1_000_000_000
const MOST_MICROS = 1_000_000_000_000

/** 0 for what is no amount: an adapter's NaN must not become null in an event. */
export function toTokenCount(tokens: number): number {
  return tokens > 0 ? Math.min(Math.round(tokens), MOST_TOKENS) : 0
}

/** Dollars as whole millionths. */
export function toMicros(usd: number): number {
  return usd > 0 ? Math.min(Math.round(usd * 1_000_000), MOST_MICROS) : 0
}
