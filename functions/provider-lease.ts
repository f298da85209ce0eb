import type { Block } from '../shared/dag/dag.ts'
import { Fault } from '../shared/errors.ts'
import type { Provider } from '../shared/providers/provider.ts'
import type { ProviderSettings } from '../shared/providers/settings.ts'
import { attemptLimit } from '../shared/runs/caps.ts'
import type { LeasePool } from '../shared/runs/run-store.ts'
import type { Caller } from './provider-call.ts'

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
  const { ms } = attemptLimit(block, world.settings.safety)
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
