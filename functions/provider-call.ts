import type { Block } from '../shared/dag/dag.ts'
import { Fault } from '../shared/errors.ts'
import { costMicros } from '../shared/plan/call-estimate.ts'
import type { Clock } from '../shared/ports/host.ts'
import type { Price } from '../shared/providers/model-prices.ts'
import type { DispatchAnswer, DispatchRequest, Provider } from '../shared/providers/provider.ts'
import { type RecordedCallWithPrompt, recordedCallWithPrompt } from '../shared/providers/recording.ts'
import type { ProviderSettings } from '../shared/providers/settings.ts'
import type { LeasePool, RunKey } from '../shared/runs/run-store.ts'
import type { Asked, CallOrigin } from '../shared/telemetry/telemetry-port.ts'
import { canonicalJson } from '../shared/text/canonical-json.ts'
import type { World } from '../shared/world.ts'

/** Longer than any call lives: who crashed keeps its place until then at the latest. */
const SPARE_MS = 30_000
/** Of providers that say nothing else (docs/providers.md). */
const DEFAULT_CALL_MS = 300_000
const JUDGE_WAIT_MS = 1_000

/** A place among the calls under way at one provider; `end` gives it back, once or again. */
export interface ProviderLease {
  end(): Promise<void>
}

const NEEDS_NONE: ProviderLease = { end: async () => undefined }

/**
 * A slot for the calls of one attempt, or the pool that is full. It is taken before the claim, so that a wait is no
 * attempt and holds nothing else, and lives a little longer than the attempt may.
 */
export async function leaseForAttempt(
  call: Caller & { readonly block: Block },
  holder: string,
): Promise<ProviderLease | LeasePool> {
  const { block, world } = call
  const limit = block.mode === 'ai' && block.foreach === undefined ? limitOf(call, block.agent.provider) : undefined
  if (limit === undefined) return NEEDS_NONE
  const ms = Math.min(block.timeout_ms, world.settings.safety.max_block_ms)
  return (await takeLease(call, limit, holder, ms)) ? providerLease(call, limit.pool, holder) : limit.pool
}

/**
 * The same provider for calls whose claim is made already (judges, stages of research): each waits for a slot until
 * its signal ends it.
 */
export function leasedProvider(call: Caller, name: string, provider: Provider | undefined): Provider | undefined {
  const limit = limitOf(call, name)
  if (provider === undefined || limit === undefined) return provider
  const { world } = call
  const { embed } = provider
  const inPlace = async <T>(signal: AbortSignal, ask: () => Promise<T>): Promise<T> => {
    const holder = `${world.ids.boot}/${Buffer.from(world.ids.random(9)).toString('base64url')}`
    while (!(await takeLease(call, limit, holder, limit.call_ms))) {
      signal.throwIfAborted()
      const pause = JUDGE_WAIT_MS * (0.5 + (world.ids.random(1)[0] ?? 0) / 256)
      if (!(await world.waker.slot(limit.pool, pause, signal))) await world.clock.delay(pause, signal)
    }
    const lease = providerLease(call, limit.pool, holder)
    return ask().finally(() => lease.end())
  }
  return {
    dispatch: (request) => inPlace(request.signal, () => provider.dispatch(request)),
    ...(embed === undefined ? {} : { embed: (request) => inPlace(request.signal, () => embed(request)) }),
  }
}

interface Caller {
  readonly world: World
  readonly run: RunKey
}

interface Limit {
  readonly pool: LeasePool
  readonly cap: number
  readonly call_ms: number
}

function limitOf({ world, run }: Caller, name: string): Limit | undefined {
  const { providers } = world.settings
  const settings: ProviderSettings | undefined = Object.hasOwn(providers, name) ? providers[name] : undefined
  if (settings === undefined || !('max_concurrency' in settings)) return undefined
  const { max_concurrency: cap, timeout_ms: call_ms = DEFAULT_CALL_MS } = settings
  return cap === undefined ? undefined : { pool: { tenant: run.tenant, name: `provider/${name}` }, cap, call_ms }
}

/** Leases whose time is over, or whose holder is gone, make room first. */
async function takeLease({ world }: Caller, { pool, cap }: Limit, holder: string, ms: number): Promise<boolean> {
  const { runs, clock, machine } = world
  const until = () => new Date(clock.now() + ms + SPARE_MS).toISOString()
  if (await runs.takeLease(pool, holder, until(), cap)) return true
  const held = Object.entries(await runs.leases(pool))
  const dead = held.filter(([one, end]) => Date.parse(end) <= clock.now() || machine.holderGone(one))
  for (const [one, end] of dead) await runs.dropLease(pool, one, end)
  return dead.length > 0 && runs.takeLease(pool, holder, until(), cap)
}

/** Not giving it back is no failure of the call: it ends by itself. */
function providerLease({ world }: Caller, pool: LeasePool, holder: string): ProviderLease {
  let ended: Promise<void> | undefined
  const drop = () =>
    world.runs.dropLease(pool, holder).catch((error: unknown) => {
      if (!(error instanceof Fault)) throw error
      world.log.error('a place at a provider could not be given back', { pool: pool.name, error: error.message })
    })
  return {
    end() {
      ended ??= drop()
      return ended
    },
  }
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

const LOOK_MS = 500

/** One dispatch under watch. `look` never rejects. */
export interface Watcher {
  /** ms since 1970 at which it must be looked at. */
  readonly due: number
  look(now: number): Promise<void>
}

/** The watchers of one clock that share a round; it ends by itself when nobody is left. */
interface Round {
  readonly watchers: Set<Watcher>
  running: boolean
}

const rounds = new WeakMap<Clock, Round>()

/**
 * Looks at a watcher each 500 ms and when it is due, until the answered function is called. All dispatches of a process
 * share one timer (a timer and an abort signal for each cost as much as a small dispatch); only one that is due sooner
 * than the next look has a round of its own.
 */
export function watchDispatch(clock: Clock, watcher: Watcher): () => void {
  const shared = rounds.get(clock) ?? { watchers: new Set(), running: false }
  rounds.set(clock, shared)
  const round = watcher.due - clock.now() < LOOK_MS ? { watchers: new Set<Watcher>(), running: false } : shared
  round.watchers.add(watcher)
  if (!round.running) void goRound(clock, round)
  return () => round.watchers.delete(watcher)
}

async function goRound(clock: Clock, round: Round): Promise<void> {
  round.running = true
  while (round.watchers.size > 0) {
    const due = Math.min(...[...round.watchers].map((watcher) => watcher.due))
    await clock.delay(Math.max(0, Math.min(LOOK_MS, due - clock.now())))
    const now = clock.now()
    await Promise.all([...round.watchers].map((watcher) => watcher.look(now)))
  }
  round.running = false
}
