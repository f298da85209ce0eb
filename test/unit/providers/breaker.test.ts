import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { withCircuitBreaker } from '../../../functions/providers/registry.ts'
import { Fault } from '../../../shared/errors.ts'
import { admitCall, type Breaker, breakerAfter, type CallOutcome } from '../../../shared/providers/circuit-breaker.ts'
import type { DispatchAnswer, DispatchRequest, Provider } from '../../../shared/providers/provider.ts'

const POLICY = { failures: 3, open_ms: 1_000 }

describe('a circuit breaker', () => {
  const breakerOf = (outcomes: readonly CallOutcome[], every = 10) => {
    let breaker: Breaker | undefined
    for (const [i, outcome] of outcomes.entries()) breaker = breakerAfter(breaker, outcome, POLICY, i * every)
    return breaker
  }

  test('opens after so many failures in a row, not before, and not by calls that were given up', () => {
    expect(breakerOf(['away', 'away'])?.state).toBe('closed')
    expect(breakerOf(['away', 'away', 'answered', 'away', 'away'])?.state).toBe('closed')
    expect(breakerOf(['away', 'unknown', 'away', 'unknown', 'away'])?.state).toBe('open')
    expect(breakerOf(['away', 'away', 'away'], 70_000)?.state).toBe('closed')
  })

  test('says how long it stays open, then lets exactly one through', () => {
    const open = breakerOf(['away', 'away', 'away'])
    expect(admitCall(open, POLICY, 100)).toEqual({ admitted: false, retry_after_ms: 920 })
    const probe = admitCall(open, POLICY, 1_020)
    expect(probe).toMatchObject({ admitted: true, next: { state: 'probing' } })
    const probing = probe.admitted ? probe.next : undefined
    expect(admitCall(probing, POLICY, 1_021)).toMatchObject({ admitted: false })
    expect(admitCall(probing, POLICY, 2_020)).toMatchObject({ admitted: true })
    expect(breakerAfter(probing, 'answered', POLICY, 1_100)).toBeUndefined()
    expect(breakerAfter(probing, 'away', POLICY, 1_100)).toEqual({ state: 'open', until: 2_100 })
    expect(admitCall(breakerAfter(probing, 'unknown', POLICY, 1_100), POLICY, 1_100)).toMatchObject({ admitted: true })
  })

  test('never lets more through than one an open_ms while it is not closed, whatever comes back when', () => {
    const steps = fc.array(
      fc.record({ ms: fc.nat({ max: 700 }), outcome: fc.constantFrom<CallOutcome>('away', 'unknown') }),
      { minLength: 5, maxLength: 60 },
    )
    const law = fc.property(steps, (all) => {
      let breaker: Breaker | undefined = { state: 'open', until: 1_000 }
      let now = 0
      for (const { ms, outcome } of all) {
        now += ms
        const admission = admitCall(breaker, POLICY, now)
        if (!admission.admitted) {
          expect(admission.retry_after_ms).toBeLessThanOrEqual(POLICY.open_ms)
          continue
        }
        expect(admitCall(admission.next, POLICY, now + POLICY.open_ms - 1).admitted).toBe(false)
        breaker = breakerAfter(admission.next, outcome, POLICY, now)
        const soon = admitCall(breaker, POLICY, now + POLICY.open_ms - 1).admitted
        // One that was given up says nothing: the next may come at once.
        expect(soon).toBe(outcome === 'unknown')
      }
    })
    fc.assert(law, { numRuns: 200 })
  })
})

describe('a provider behind one', () => {
  const REQUEST = { signal: new AbortController().signal } as unknown as DispatchRequest
  const ANSWER: DispatchAnswer = { text: 'x', tokens_in: 1, tokens_out: 1, model: 'm', finish_reason: 'stop' }
  const away = new Fault('Unavailable', 'provider_unavailable', 'it is away')

  /** What each call does next, and the clock. */
  function behind(plan: (Error | 'answer')[]) {
    const seen = { calls: 0, now: 0 }
    const provider: Provider = {
      async dispatch() {
        seen.calls += 1
        const next = plan.shift() ?? 'answer'
        if (next !== 'answer') throw next
        return ANSWER
      },
    }
    const guarded = withCircuitBreaker('own', provider, POLICY, () => seen.now)
    const code = () =>
      guarded.dispatch(REQUEST).then(
        () => 'answered',
        (error: Fault) => error.message,
      )
    return { seen, code, guarded }
  }

  test('is not asked while it is open, and says when it will be', async () => {
    const { seen, guarded, code } = behind([away, away, away])
    for (let i = 0; i < 3; i += 1) expect(await code()).toBe('it is away')
    const refused = await guarded.dispatch(REQUEST).catch((error: unknown) => error)
    expect(refused).toMatchObject({
      name: 'Unavailable',
      code: 'provider_unavailable',
      facts: { provider: 'own', retry_after_ms: 1_000 },
      message: expect.stringContaining('failed 3 times in a row'),
    })
    expect(seen.calls).toBe(3)
    seen.now = 1_000
    expect(await code()).toBe('answered')
    expect(await code()).toBe('answered')
    expect(seen.calls).toBe(5)
  })

  test.each([
    ['provider_throttled', 'Unavailable'],
    ['provider_refused', 'Rejected'],
    ['provider_invalid', 'InvalidInput'],
  ] as const)('%s is an answer: it closes', async (code, name) => {
    const told = new Fault(name, code, 'told')
    const { seen, code: ask } = behind([away, away, told, away, away, away])
    for (let i = 0; i < 6; i += 1) await ask()
    expect(seen.calls).toBe(6)
    expect(await ask()).toContain('is not asked')
  })

  test.each(['block_timeout', 'provider_timeout'])(
    '%s counts as being away, a stop and a missing key do not',
    async (code) => {
      const late = new Fault('Unavailable', code, 'late')
      const stopped = new Fault('Rejected', 'superseded', 'stopped')
      const keyless = new Fault('InvalidInput', 'provider_key_missing', 'no key')
      const { seen, code: ask } = behind([late, stopped, keyless, new Error('x'), late, late])
      for (let i = 0; i < 6; i += 1) await ask()
      expect(seen.calls).toBe(6)
      expect(await ask()).toContain('is not asked')
    },
  )

  test('an aborted signal is thrown before anything is asked or learnt', async () => {
    const { seen, guarded } = behind([])
    const reason = new Error('stopped')
    await expect(guarded.dispatch({ ...REQUEST, signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    expect(seen.calls).toBe(0)
  })
})
