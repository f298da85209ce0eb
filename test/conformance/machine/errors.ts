import { describe, expect, test } from 'vitest'
import type { Json } from '../../../shared/text/json.ts'
import type { VirtualClock } from '../virtual-clock.ts'
import {
  call,
  type Loose,
  machine,
  Named,
  payloadOut,
  retry,
  type Start,
  seeInput,
  succeeded,
  type TestFunction,
} from './machine-fixture.ts'

/** What is tried again, and what is caught. */
export function errorTests(name: string, start: Start): void {
  describe(`${name}: Retry and Catch`, () => {
    /** Fails `times` times with the error, noting when it was called. */
    const failing = (times: number, error = 'Oops') => {
      const at: number[] = []
      let place: { clock: VirtualClock } | undefined
      const fn: TestFunction = () => {
        at.push(place?.clock.now() ?? 0)
        return at.length <= times ? Promise.reject(new Named(error, `try ${at.length}`)) : 'done'
      }
      const gaps = () => at.slice(1).map((time, index) => time - (index === 0 ? startedAt : (at[index] ?? 0)))
      let startedAt = 0
      return {
        fn,
        calls: () => at.length,
        gaps,
        of: (run: { clock: VirtualClock }) => {
          place = run
          startedAt = run.clock.now()
        },
      }
    }
    const guarded = (rest: Loose) =>
      machine('A', { A: call('Fails', {}, { ...payloadOut, ...rest, Next: 'B' }), B: seeInput })
    const until = async (run: { clock: VirtualClock; now(): Promise<{ status: string } | undefined> }, ms: number) => {
      await run.clock.advance(ms)
      return run.now()
    }

    test('an error nothing matches fails the execution with Lambda’s Cause', async () => {
      const fails = failing(1)
      const run = await start(guarded({ Retry: [retry({ ErrorEquals: ['Other'] })] }), { Fails: fails.fn })
      const end = await run.now()
      expect(end).toMatchObject({ status: 'FAILED', error: 'Oops' })
      expect(JSON.parse(end?.cause ?? '')).toMatchObject({
        errorType: 'Oops',
        errorMessage: 'try 1',
        trace: expect.any(Array),
      })
    })
    test('waits IntervalSeconds times BackoffRate to the power of the retries, at most MaxDelaySeconds', async () => {
      const fails = failing(4)
      const rule = retry({ IntervalSeconds: 2, BackoffRate: 2, MaxDelaySeconds: 10, MaxAttempts: 4 })
      const run = await start(guarded({ Retry: [rule] }), { Fails: fails.fn })
      fails.of(run)
      expect(await until(run, 60_000)).toMatchObject(succeeded)
      expect(fails.gaps()).toEqual([2_000, 4_000, 8_000, 10_000])
      expect(run.seen).toEqual(['done'])
    })
    test('JitterStrategy FULL takes a part of the delay', async () => {
      const fails = failing(30)
      const rule = retry({ IntervalSeconds: 10, MaxAttempts: 30, JitterStrategy: 'FULL' })
      const run = await start(guarded({ Retry: [rule] }), { Fails: fails.fn })
      fails.of(run)
      expect(await until(run, 301_000)).toMatchObject(succeeded)
      expect(fails.gaps().every((gap) => gap >= 0 && gap <= 10_000)).toBe(true)
      expect(new Set(fails.gaps()).size).toBeGreaterThan(10)
    })
    test('MaxAttempts counts retries; then the Catch, and no other retrier, has its turn', async () => {
      const fails = failing(99)
      const rules = [retry({ ErrorEquals: ['Oops'], MaxAttempts: 2 }), retry({ MaxAttempts: 50 })]
      const run = await start(guarded({ Retry: rules, Catch: [{ ErrorEquals: ['Oops'], Next: 'B' }] }), {
        Fails: fails.fn,
      })
      expect(await until(run, 60_000)).toMatchObject(succeeded)
      expect(fails.calls()).toBe(3)
    })
    test('each retrier counts for itself, and the context counts them together', async () => {
      const errors = ['X', 'Y', 'X']
      const counts: Json[] = []
      const Fails: TestFunction = (payload) => {
        counts.push(payload)
        const error = errors.shift()
        return error === undefined ? 'done' : Promise.reject(new Named(error, ''))
      }
      const A = call('Fails', '{% $states.context.State.RetryCount %}', {
        Retry: [retry({ ErrorEquals: ['X'], MaxAttempts: 2 }), retry({ ErrorEquals: ['Y'], MaxAttempts: 1 })],
        End: true,
      })
      const run = await start(machine('A', { A }), { Fails })
      expect(await until(run, 10_000)).toMatchObject(succeeded)
      expect(counts).toEqual([0, 1, 2, 3])
    })
    test('MaxAttempts 0 never retries', async () => {
      const fails = failing(1)
      const run = await start(guarded({ Retry: [retry({ MaxAttempts: 0 })] }), { Fails: fails.fn })
      expect(await until(run, 10_000)).toMatchObject({ status: 'FAILED', error: 'Oops' })
    })
    test('Catch without Output hands on {Error, Cause}', async () => {
      const run = await start(guarded({ Catch: [{ ErrorEquals: ['Oops'], Next: 'B' }] }), { Fails: failing(1).fn })
      expect(run.seen[0]).toMatchObject({ Error: 'Oops', Cause: expect.stringContaining('"errorMessage":"try 1"') })
    })
    test('the first Catch that matches is taken', async () => {
      const Catch = ['Other', 'Oops', 'States.ALL'].map((name) => ({
        ErrorEquals: [name],
        Output: { name },
        Next: 'B',
      }))
      expect((await start(guarded({ Catch }), { Fails: failing(1).fn })).seen).toEqual([{ name: 'Oops' }])
    })
    test('States.TaskFailed matches every error but States.Timeout', async () => {
      const Catch = [
        { ErrorEquals: ['States.TaskFailed'], Output: { by: 'TaskFailed' }, Next: 'B' },
        { ErrorEquals: ['States.ALL'], Output: { by: 'ALL' }, Next: 'B' },
      ]
      expect((await start(guarded({ Catch }), { Fails: failing(1).fn })).seen).toEqual([{ by: 'TaskFailed' }])
      const run = await start(guarded({ Catch, TimeoutSeconds: 2 }), { Fails: () => new Promise(() => undefined) })
      await run.clock.advance(2_000)
      expect(run.seen).toEqual([{ by: 'ALL' }])
    })
    test('TimeoutSeconds of a Task is States.Timeout, aborts the invocation and starts anew with each try', async () => {
      let aborted = 0
      const Hangs: TestFunction = (_payload, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            aborted += 1
            reject(new Error('aborted'))
          })
        })
      const rest = {
        TimeoutSeconds: 930,
        Retry: [retry({ ErrorEquals: ['States.Timeout'], MaxAttempts: 1 })],
        Catch: [{ ErrorEquals: ['States.Timeout'], Next: 'B' }],
      }
      const run = await start(guarded(rest), { Fails: Hangs })
      await run.clock.advance(930_000 + 1_000 + 929_999)
      expect([aborted, run.seen]).toEqual([1, []])
      await run.clock.advance(1)
      expect([aborted, run.seen]).toMatchObject([2, [{ Error: 'States.Timeout' }]])
    })
    test('a RetryBlock loop waits as long as the message says and comes back', async () => {
      let tries = 0
      const Fails: TestFunction = () => {
        tries += 1
        return tries < 3
          ? Promise.reject(Object.assign(new Named('RetryBlock', JSON.stringify({ s: tries * 10 })), { stack: '' }))
          : { state: 'completed' }
      }
      const run = await start(
        machine('a', {
          a: call(
            'Fails',
            {},
            {
              ...payloadOut,
              Retry: [retry({ ErrorEquals: ['States.Timeout'] })],
              Catch: [
                {
                  ErrorEquals: ['RetryBlock'],
                  Output: '{% $parse($parse($states.errorOutput.Cause).errorMessage) %}',
                  Next: '_retry_a',
                },
              ],
              Next: 'B',
            },
          ),
          _retry_a: { Type: 'Wait', Seconds: '{% $states.input.s %}', Next: 'a' },
          B: seeInput,
        }),
        { Fails },
      )
      await run.clock.advance(29_999)
      expect([tries, run.seen]).toEqual([2, []])
      await run.clock.advance(1)
      expect([tries, run.seen]).toEqual([3, [{ state: 'completed' }]])
    })
    test('something thrown that is no Error is reported by its type', async () => {
      const run = await start(guarded({}), { Fails: () => Promise.reject('plain text') })
      const end = await run.now()
      expect(JSON.parse(end?.cause ?? '')).toEqual({ errorType: 'string', errorMessage: 'plain text', trace: [] })
    })
  })
}
