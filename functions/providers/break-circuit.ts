import { admitCall, type Breaker, type BreakerPolicy, breakerAfter, type CallOutcome } from '../../shared/breaker.ts'
import { Fault } from '../../shared/errors.ts'
import type { Provider } from '../../shared/provider.ts'

/**
 * The same provider behind a circuit breaker: after `failures` in a row of not being there it is left alone for
 * `open_ms` (provider_unavailable at once, which says when to come back), then one call is let through to see. What is
 * known lives in this process: each sandbox learns for itself.
 */
export function breakCircuit(
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
  return new Fault('Unavailable', 'provider_unavailable', message, { facts: { provider, retry_after_ms } })
}
