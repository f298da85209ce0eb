import { afterEach, describe, expect, test } from 'vitest'
import type { Json } from '../../shared/canonical.ts'
import type { Machine, MachineInput, TokenAnswer } from '../../shared/runs/machine.ts'
import type { VirtualClock } from './virtual-clock.ts'

type TestFunction = (payload: Json, signal: AbortSignal) => Json | Promise<Json>

/** A machine under test: its functions are the suite's, its time is virtual. */
interface MachinePlace {
  readonly machine: Machine
  readonly clock: VirtualClock
  close(): Promise<void>
}

/** Machine text names functions as `${Name}`; the place binds them so that a call reaches `functions[Name]`. */
export type OpenMachine = (functions: Readonly<Record<string, TestFunction>>) => Promise<MachinePlace>

const INVOKE = 'arn:aws:states:::lambda:invoke'
const CALLBACK = 'arn:aws:states:::lambda:invoke.waitForTaskToken'
const INPUT: MachineInput = { v: 1, tenant: 'main', run_id: 'run_a' }
const DAY = 86_400_000

type Loose = Readonly<Record<string, unknown>>

const call = (name: string, payload: unknown, rest: Loose = { End: true }): Loose => ({
  Type: 'Task',
  Resource: INVOKE,
  Arguments: { FunctionName: `\${${name}}`, Payload: payload },
  ...rest,
})
const ask = (rest: Loose = { End: true }, name = 'Ask'): Loose =>
  call(name, { token: '{% $states.context.Task.Token %}' }, { Resource: CALLBACK, ...rest })
/** Shows a value to the function `See`: the port itself tells no outputs. */
const see = (value: unknown, rest: Loose = { End: true }): Loose => call('See', value, rest)
const seeInput = see('{% $states.input %}')
const payloadOut = { Output: '{% $states.result.Payload %}' }
const machine = (startAt: string, states: Loose, rest: Loose = {}): string =>
  JSON.stringify({ QueryLanguage: 'JSONata', StartAt: startAt, States: states, ...rest })
const branch = (startAt: string, states: Loose): Loose => ({ StartAt: startAt, States: states })
const retry = (rest: Loose = {}): Loose => ({
  ErrorEquals: ['States.ALL'],
  IntervalSeconds: 1,
  BackoffRate: 1,
  MaxAttempts: 3,
  ...rest,
})

class Named extends Error {
  constructor(name: string, message: string) {
    super(message)
    this.name = name
  }
}

/** Everything a Machine must do for Sluice; an implementation is admitted by one call of this. */
export function machineSuite(name: string, open: OpenMachine): void {
  const opened: MachinePlace[] = []
  let hashes = 0
  afterEach(async () => {
    for (const place of opened.splice(0)) await place.close()
  })

  /** Starts `definition`; `seen` collects what See was given, `tokens` what Ask was. */
  const start = async (definition: string, functions: Readonly<Record<string, TestFunction>> = {}) => {
    const seen: Json[] = []
    const tokens: string[] = []
    const place = await open({
      See: (payload) => {
        seen.push(payload)
        return payload
      },
      Ask: (payload) => {
        tokens.push((payload as { token: string }).token)
        return 'ignored'
      },
      ...functions,
    })
    opened.push(place)
    hashes += 1
    const id = await place.machine.ensure(definition, `hash${hashes}`)
    const started = await place.machine.start({ machine: id, name: 'run_a', input: INPUT })
    await place.clock.settle()
    return {
      ...place,
      id,
      started,
      seen,
      tokens,
      now: () => place.machine.describe(id, 'run_a'),
      answer: (answer: TokenAnswer, index = 0) => place.machine.answer(tokens[index] ?? 'none', answer),
    }
  }
  const succeeded = { status: 'SUCCEEDED' }

  describe(`${name}: executions`, () => {
    test('start() runs an execution once, under its name', async () => {
      const run = await start(machine('A', { A: ask() }))
      expect(run.started).toBe('started')
      expect(await run.now()).toEqual({ status: 'RUNNING' })
      // Step Functions answers a repeated start of a running execution with the same input like the first one.
      await run.machine.start({ machine: run.id, name: 'run_a', input: INPUT })
      await run.answer({ ok: null })
      await run.clock.settle()
      expect(await run.now()).toMatchObject(succeeded)
      expect(await run.machine.start({ machine: run.id, name: 'run_a', input: INPUT })).toBe('exists')
      await run.clock.settle()
      expect(run.tokens).toHaveLength(1)
    })
    test('describe() answers undefined for a name never started', async () => {
      const run = await start(machine('A', { A: { Type: 'Succeed' } }))
      expect(await run.machine.describe(run.id, 'run_other')).toBeUndefined()
    })
    test('ensure() answers the same machine for the same hash', async () => {
      const text = machine('A', { A: { Type: 'Succeed' } })
      const run = await start(text)
      expect(await run.machine.ensure(text, `hash${hashes}`)).toBe(run.id)
    })
    test('named() says what ensure() answers, and makes nothing', async () => {
      const text = machine('A', { A: { Type: 'Succeed' } })
      const run = await start(text)
      expect(await run.machine.named(text, `hash${hashes}`)).toBe(run.id)
      const later = await run.machine.named(text, 'later')
      const early = { machine: later, name: 'run_c', input: INPUT }
      await expect(run.machine.start(early)).rejects.toMatchObject({ name: 'NotFound', code: 'machine_unknown' })
      expect(await run.machine.ensure(text, 'later')).toBe(later)
      expect(await run.machine.start(early)).toBe('started')
    })
    test('two executions of one machine do not see each other', async () => {
      const run = await start(machine('A', { A: see('{% $states.context.Execution.Name %}') }))
      await run.machine.start({ machine: run.id, name: 'run_b', input: INPUT })
      await run.clock.settle()
      expect(run.seen).toEqual(['run_a', 'run_b'])
    })
    test('stop() ends an execution as ABORTED: invocations are aborted, later states do not run', async () => {
      let aborted = false
      const Slow: TestFunction = (_payload, signal) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            aborted = true
            resolve('too late')
          })
        })
      const run = await start(machine('A', { A: call('Slow', {}, { Next: 'B' }), B: seeInput }), { Slow })
      await run.machine.stop(run.id, 'run_a', 'a person asked')
      await run.clock.settle()
      expect(await run.now()).toEqual({ status: 'ABORTED', cause: 'a person asked' })
      expect([aborted, run.seen]).toEqual([true, []])
    })
    test('stop() of an ended or unknown execution changes nothing', async () => {
      const run = await start(machine('A', { A: { Type: 'Succeed' } }))
      await run.machine.stop(run.id, 'run_a', 'late')
      await run.machine.stop(run.id, 'run_other', 'nobody')
      expect(await run.now()).toMatchObject(succeeded)
    })
    test('stop() ends a Wait, a retry delay and every branch', async () => {
      const fails: TestFunction = () => Promise.reject(new Named('Oops', 'no'))
      const branches = [
        branch('A', { A: { Type: 'Wait', Seconds: 60, Next: 'A2' }, A2: seeInput }),
        branch('B', { B: call('Fails', {}, { Retry: [retry({ IntervalSeconds: 60 })], End: true }) }),
        branch('C', { C: ask() }),
      ]
      const run = await start(machine('P', { P: { Type: 'Parallel', Branches: branches, End: true } }), {
        Fails: fails,
      })
      await run.machine.stop(run.id, 'run_a', 'enough')
      await run.clock.advance(DAY)
      expect(await run.now()).toMatchObject({ status: 'ABORTED' })
      expect(run.seen).toEqual([])
      expect(await run.answer({ ok: 1 })).toBe('gone')
    })
    test('TimeoutSeconds of the machine ends it as TIMED_OUT', async () => {
      const run = await start(machine('A', { A: ask() }, { TimeoutSeconds: 31_536_000 }))
      await run.clock.advance(364 * DAY)
      expect(await run.now()).toEqual({ status: 'RUNNING' })
      await run.clock.advance(DAY)
      expect(await run.now()).toMatchObject({ status: 'TIMED_OUT' })
      expect(await run.answer({ ok: 1 })).toBe('gone')
    })
    test('an endless loop ends as FAILED at 25,000 history events', async () => {
      const run = await start(machine('A', { A: { Type: 'Pass', Next: 'B' }, B: { Type: 'Pass', Next: 'A' } }))
      for (let turn = 0; turn < 100 && (await run.now())?.status === 'RUNNING'; turn++) await run.clock.settle()
      expect(await run.now()).toEqual({
        status: 'FAILED',
        error: 'States.Runtime',
        cause: 'The execution reached the maximum number of history events (25000).',
      })
    })
  })

  describe(`${name}: data`, () => {
    test('a Task calls its function with the evaluated Payload and answers Payload and StatusCode', async () => {
      const A = call(
        'See',
        { in: '{% $states.input %}', block: 'a', joins: ['x', '{% $states.input.run_id %}'] },
        { Next: 'B' },
      )
      const run = await start(machine('A', { A, B: seeInput }))
      const payload = { in: INPUT, block: 'a', joins: ['x', 'run_a'] }
      expect(run.seen[0]).toEqual(payload)
      expect(run.seen[1]).toMatchObject({ Payload: payload, StatusCode: 200 })
      expect(await run.now()).toMatchObject(succeeded)
    })
    test('Output reshapes the result; without expressions it is a constant', async () => {
      const run = await start(
        machine('A', {
          A: see(
            { n: 20 },
            { Output: { n: '{% $states.result.Payload.n + 1 %}', in: '{% $states.input.run_id %}' }, Next: 'B' },
          ),
          B: see('{% $states.input %}', { Output: { fixed: [1, 'two'] }, Next: 'C' }),
          C: seeInput,
        }),
      )
      expect(run.seen.slice(1)).toEqual([{ n: 21, in: 'run_a' }, { fixed: [1, 'two'] }])
    })
    test('a function that answers nothing has Payload null', async () => {
      const run = await start(
        machine('A', { A: call('Nothing', {}, { ...payloadOut, Next: 'B' }), B: see(['{% $states.input %}']) }),
        {
          Nothing: () => undefined as unknown as Json,
        },
      )
      expect(run.seen).toEqual([[null]])
    })
    test('a function that changes its payload changes nobody else’s', async () => {
      const Spoil: TestFunction = (payload) => {
        Object.assign(payload as object, { run_id: 'spoilt', x: 1 })
        return payload
      }
      const run = await start(
        machine('A', {
          A: call('Spoil', '{% $states.input %}', { Output: '{% $states.input %}', Next: 'B' }),
          B: seeInput,
        }),
        { Spoil },
      )
      expect(run.seen).toEqual([INPUT])
    })
    test('the context object names execution, state and machine', async () => {
      const run = await start(machine('A', { A: see('{% $states.context %}') }))
      expect(run.seen[0]).toMatchObject({
        Execution: {
          Id: expect.any(String),
          Input: INPUT,
          Name: 'run_a',
          StartTime: expect.stringMatching(/^\d{4}-.*Z$/),
        },
        State: { Name: 'A', EnteredTime: expect.stringMatching(/^\d{4}-.*Z$/), RetryCount: 0 },
        StateMachine: { Id: expect.any(String), Name: expect.any(String) },
      })
    })
    test('an undefined result, a JSONata error and $eval are States.QueryEvaluationError', async () => {
      for (const text of [
        '{% $states.input.missing %}',
        '{% $number("x") %}',
        '{% $eval("1") %}',
        '{% $states.context.Task.Token %}',
      ]) {
        const run = await start(machine('A', { A: see({ deep: [text] }) }))
        expect(await run.now()).toMatchObject({ status: 'FAILED', error: 'States.QueryEvaluationError' })
        expect(run.seen).toEqual([])
      }
    })
    test('an error in Arguments or Output can be caught', async () => {
      const guard = {
        Catch: [
          {
            ErrorEquals: ['States.QueryEvaluationError'],
            Output: { from: '{% $states.context.State.Name %}' },
            Next: 'C',
          },
        ],
      }
      const A = see('{% $states.input.missing %}', { ...guard, Next: 'C' })
      const B = see('x', { ...guard, Output: '{% $states.result.missing %}', Next: 'C' })
      for (const [at, state] of Object.entries({ A, B })) {
        const run = await start(machine(at, { [at]: state, C: seeInput }))
        expect(run.seen.at(-1)).toEqual({ from: at })
      }
    })
    test('$parse reads JSON text and nothing else', async () => {
      const good = await start(machine('A', { A: see('{% $parse("{\\"a\\": [1]}").a %}') }))
      expect(good.seen).toEqual([[1]])
      const bad = await start(machine('A', { A: see('{% $parse("{oops") %}') }))
      expect(await bad.now()).toMatchObject({ error: 'States.QueryEvaluationError' })
    })
    test('Pass and Succeed hand on their input or their Output', async () => {
      const run = await start(
        machine('A', {
          A: { Type: 'Pass', Next: 'B' },
          B: { Type: 'Pass', Output: { id: '{% $states.input.run_id %}' }, Next: 'C' },
          C: see('{% $states.input %}', { Next: 'D' }),
          D: { Type: 'Succeed', Output: { a: 1 } },
        }),
      )
      expect(run.seen).toEqual([{ id: 'run_a' }])
      expect(await run.now()).toMatchObject(succeeded)
    })
    test('Fail fails with its Error and Cause, texts or expressions', async () => {
      const run = await start(
        machine('A', { A: { Type: 'Fail', Error: 'RunFailed', Cause: '{% "run " & $states.input.run_id %}' } }),
      )
      expect(await run.now()).toEqual({ status: 'FAILED', error: 'RunFailed', cause: 'run run_a' })
    })
    test('256 KiB are the limit of payloads, results and outputs', async () => {
      const Big: TestFunction = (payload) => 'x'.repeat((payload as { n: number }).n)
      const sized = (n: number, rest: Loose) =>
        machine('A', { A: call('Big', { n }, { ...rest, Next: 'B' }), B: see('ok') })
      const fits = await start(sized(262_142, payloadOut), { Big })
      expect([await fits.now(), fits.seen]).toMatchObject([succeeded, ['ok']])
      const all = [{ ErrorEquals: ['States.ALL'], Next: 'B' }]
      const over = await start(sized(262_143, { ...payloadOut, Catch: all, Retry: [retry()] }), { Big })
      expect([await over.now(), over.seen]).toMatchObject([{ status: 'FAILED', error: 'States.DataLimitExceeded' }, []])
      const named = [{ ErrorEquals: ['States.DataLimitExceeded'], Next: 'B' }]
      const caught = await start(sized(262_143, { Catch: named }), { Big })
      expect([await caught.now(), caught.seen]).toMatchObject([succeeded, ['ok']])
      const wide = await start(machine('A', { A: see('{% $pad("", 262143, "x") %}') }))
      expect([await wide.now(), wide.seen]).toMatchObject([{ error: 'States.DataLimitExceeded' }, []])
    })
  })

  describe(`${name}: Choice`, () => {
    const choose = (rest: Loose) =>
      machine('A', { A: { Type: 'Choice', ...rest }, B: see('B'), C: see('C'), D: seeInput })
    test('the first rule that holds decides', async () => {
      const Choices = [
        { Condition: '{% $states.input.run_id = "other" %}', Next: 'C' },
        { Condition: '{% $states.input.v > 0 %}', Next: 'B' },
        { Condition: '{% true %}', Next: 'C' },
      ]
      expect((await start(choose({ Choices }))).seen).toEqual(['B'])
    })
    test('a rule may have an Output; otherwise the input goes on', async () => {
      const Choices = [{ Condition: '{% $states.input.v = 1 %}', Output: { was: '{% $states.input.v %}' }, Next: 'D' }]
      expect((await start(choose({ Choices }))).seen).toEqual([{ was: 1 }])
    })
    test('Default is taken when no rule holds', async () => {
      const run = await start(choose({ Choices: [{ Condition: '{% false %}', Next: 'B' }], Default: 'D' }))
      expect(run.seen).toEqual([INPUT])
    })
    test('no rule and no Default is States.NoChoiceMatched', async () => {
      const run = await start(choose({ Choices: [{ Condition: '{% false %}', Next: 'B' }] }))
      expect(await run.now()).toMatchObject({ status: 'FAILED', error: 'States.NoChoiceMatched' })
    })
    test('a Condition that is not a boolean is States.QueryEvaluationError', async () => {
      const run = await start(choose({ Choices: [{ Condition: '{% "true" %}', Next: 'B' }], Default: 'C' }))
      expect(await run.now()).toMatchObject({ status: 'FAILED', error: 'States.QueryEvaluationError' })
    })
  })

  describe(`${name}: Wait`, () => {
    const wait = (rest: Loose) => machine('A', { A: { Type: 'Wait', ...rest, Next: 'B' }, B: see('after') })
    test.each([
      ['Seconds as a number', { Seconds: 5 }, 5_000],
      ['Seconds as an expression', { Seconds: '{% $states.input.v + 6 %}' }, 7_000],
      ['Timestamp', { Timestamp: '2026-01-01T00:01:00Z' }, 60_000],
      ['Timestamp as an expression', { Timestamp: '{% "2026-01-01T00:01:00.500Z" %}' }, 60_500],
      ['more than 24.8 days', { Seconds: 40 * 86_400 }, 40 * DAY],
    ])('%s', async (_title, rest, ms) => {
      const run = await start(wait(rest))
      await run.clock.advance(ms - 1)
      expect(run.seen).toEqual([])
      await run.clock.advance(1)
      expect(run.seen).toEqual(['after'])
    })
    test('zero seconds and a time that has passed do not wait', async () => {
      expect((await start(wait({ Seconds: 0 }))).seen).toEqual(['after'])
      expect((await start(wait({ Timestamp: '2020-01-01T00:00:00Z' }))).seen).toEqual(['after'])
    })
    test.each(['{% -1 %}', '{% 1.5 %}', '{% "5" %}', '{% null %}'])(
      'Seconds %s is States.QueryEvaluationError',
      async (Seconds) => {
        expect(await (await start(wait({ Seconds }))).now()).toMatchObject({ error: 'States.QueryEvaluationError' })
      },
    )
    test('a Wait hands its input on', async () => {
      const run = await start(machine('A', { A: { Type: 'Wait', Seconds: 1, Next: 'B' }, B: seeInput }))
      await run.clock.advance(1_000)
      expect(run.seen).toEqual([INPUT])
    })
  })

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

  describe(`${name}: Parallel`, () => {
    const parallel = (branches: readonly Loose[], rest: Loose = {}, more: Loose = {}) =>
      machine('P', { P: { Type: 'Parallel', Branches: branches, ...rest, Next: 'Z' }, Z: seeInput, ...more })
    const one = (id: string, rest: Loose = {}) =>
      branch(id, { [id]: call('Name', id, { ...payloadOut, End: true, ...rest }) })
    const Name: TestFunction = (payload) => payload

    test('answers the outputs in the order of the branches, whichever ends first', async () => {
      const slow = branch('s', {
        s: { Type: 'Wait', Seconds: 5, Next: 't' },
        t: { Type: 'Pass', Output: { slow: true }, End: true },
      })
      const run = await start(parallel([slow, one('b'), branch('c', { c: { Type: 'Succeed' } })]), { Name })
      await run.clock.advance(5_000)
      expect(run.seen).toEqual([[{ slow: true }, 'b', INPUT]])
    })
    test('Arguments are the input of every branch, Output shapes the result', async () => {
      const echo = branch('e', { e: { Type: 'Pass', End: true } })
      const run = await start(
        parallel([echo, branch('f', { f: { Type: 'Pass', End: true } })], {
          Arguments: { a: '{% $states.input.v %}' },
          Output: { all: '{% $states.result.a %}' },
        }),
      )
      expect(run.seen).toEqual([{ all: [1, 1] }])
    })
    test('branches run at the same time, however many', async () => {
      let now = 0
      let most = 0
      const Busy: TestFunction = async () => {
        now += 1
        most = Math.max(most, now)
        await new Promise((resolve) => setImmediate(resolve))
        now -= 1
        return null
      }
      const branches = Array.from({ length: 150 }, (_, i) =>
        branch(`b${i}`, { [`b${i}`]: call('Busy', {}, { ...payloadOut, End: true }) }),
      )
      const run = await start(parallel(branches), { Busy })
      await run.clock.settle()
      expect([most, (run.seen[0] as Json[]).length]).toEqual([150, 150])
    })
    test('the first failing branch ends its siblings: no further state, an aborted invocation, an ignored result', async () => {
      const aborted: string[] = []
      const Slow: TestFunction = (_payload, signal) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            aborted.push('slow')
            resolve('ignored')
          })
        })
      const branches = [
        branch('w', {
          w: { Type: 'Wait', Seconds: 10, Next: 'f' },
          f: { Type: 'Fail', Error: 'Broken', Cause: 'branch one' },
        }),
        branch('s', { s: call('Slow', {}, { Next: 's2' }), s2: see('never') }),
        branch('n', {
          n: {
            Type: 'Parallel',
            Branches: [branch('n1', { n1: { Type: 'Wait', Seconds: 11, Next: 'n2' }, n2: see('never') })],
            End: true,
          },
        }),
        branch('t', { t: ask() }),
      ]
      const run = await start(parallel(branches), { Slow })
      await run.clock.advance(DAY)
      expect(await run.now()).toEqual({ status: 'FAILED', error: 'Broken', cause: 'branch one' })
      expect([aborted, run.seen, await run.answer({ ok: 1 })]).toEqual([['slow'], [], 'gone'])
    })
    test('Catch and Retry of a Parallel see the branch’s own error; a retry runs every branch again', async () => {
      const called: string[] = []
      const Name2: TestFunction = (payload) => {
        called.push(String(payload))
        return called.length < 4 && payload === 'b' ? Promise.reject(new Named('Oops', 'b')) : payload
      }
      const rest = {
        Retry: [retry({ ErrorEquals: ['Oops'] })],
        Catch: [{ ErrorEquals: ['Oops'], Output: { caught: true }, Next: 'Z' }],
      }
      const run = await start(parallel([one('a'), one('b')], rest), { Name: Name2 })
      await run.clock.advance(1_000)
      expect([called, run.seen]).toEqual([['a', 'b', 'a', 'b'], [['a', 'b']]])
      const caught = await start(parallel([one('a'), one('b')], { Catch: rest.Catch }), {
        Name: () => Promise.reject(new Named('Oops', '')),
      })
      expect(caught.seen).toEqual([{ caught: true }])
    })
    test('an error caught inside a branch stays there', async () => {
      const Oops: TestFunction = () => Promise.reject(new Named('Oops', ''))
      const caught = branch('x', {
        x: call('Oops', {}, { Catch: [{ ErrorEquals: ['Oops'], Output: { ok: false }, Next: 'y' }], Next: 'y' }),
        y: { Type: 'Pass', End: true },
      })
      const run = await start(parallel([caught, one('b')]), { Oops, Name })
      expect(run.seen).toEqual([[{ ok: false }, 'b']])
    })
  })

  describe(`${name}: Map`, () => {
    const mapped = (rest: Loose, states: Loose = { i: seeInput }) =>
      machine('M', {
        M: {
          Type: 'Map',
          ItemProcessor: { ProcessorConfig: { Mode: 'INLINE' }, ...branch(Object.keys(states)[0] ?? '', states) },
          ...rest,
          Next: 'Z',
        },
        Z: see(['end', '{% $states.input %}']),
      })

    test('runs the processor once an item and answers the outputs in order', async () => {
      const states = {
        i: { Type: 'Wait', Seconds: '{% 3 - $states.input %}', Next: 'j' },
        j: see('{% $states.input %}', { ...payloadOut, End: true }),
      }
      const run = await start(mapped({ Items: '{% [0, 1, 2] %}' }, states))
      await run.clock.advance(3_000)
      expect(run.seen).toEqual([2, 1, 0, ['end', [0, 1, 2]]])
    })
    test('ItemSelector makes the input of an item, with Map.Item in the context', async () => {
      const ItemSelector = {
        i: '{% $states.context.Map.Item.Index %}',
        v: '{% $states.context.Map.Item.Value %}',
        run: '{% $states.input.run_id %}',
      }
      const run = await start(
        mapped(
          { Items: ['a', 'b'], ItemSelector },
          {
            i: see(
              { in: '{% $states.input %}', at: '{% $states.context.Map.Item.Index %}' },
              { ...payloadOut, End: true },
            ),
          },
        ),
      )
      expect(run.seen.slice(0, 2)).toEqual([
        { in: { i: 0, v: 'a', run: 'run_a' }, at: 0 },
        { in: { i: 1, v: 'b', run: 'run_a' }, at: 1 },
      ])
    })
    test.each([
      [3, 3],
      [0, 40],
      [500, 40],
    ])('MaxConcurrency %i runs at most %i items at once', async (MaxConcurrency, allowed) => {
      let now = 0
      let most = 0
      const Busy: TestFunction = async () => {
        now += 1
        most = Math.max(most, now)
        await new Promise((resolve) => setImmediate(resolve))
        now -= 1
        return null
      }
      const run = await start(
        mapped({ Items: '{% [1..100] %}', MaxConcurrency }, { i: call('Busy', {}, { ...payloadOut, End: true }) }),
        { Busy },
      )
      for (let turn = 0; turn < 10; turn++) await run.clock.settle()
      expect([most, await run.now()]).toMatchObject([allowed, succeeded])
    })
    test('no items answer an empty list', async () => {
      expect((await start(mapped({ Items: [] }))).seen).toEqual([['end', []]])
    })
    test('Items that are no list are States.QueryEvaluationError', async () => {
      const run = await start(
        mapped({
          Items: '{% "text" %}',
          Catch: [{ ErrorEquals: ['States.QueryEvaluationError'], Output: { c: 1 }, Next: 'Z' }],
        }),
      )
      expect(run.seen).toEqual([['end', { c: 1 }]])
    })
    test('a failing item ends the others and fails the Map', async () => {
      const states = {
        i: { Type: 'Choice', Choices: [{ Condition: '{% $states.input = 1 %}', Next: 'f' }], Default: 'w' },
        f: { Type: 'Fail', Error: 'Bad', Cause: '' },
        w: { Type: 'Wait', Seconds: 1, Next: 's' },
        s: seeInput,
      }
      const run = await start(
        mapped({ Items: [0, 1, 2], Catch: [{ ErrorEquals: ['Bad'], Output: { c: 1 }, Next: 'Z' }] }, states),
      )
      await run.clock.advance(10_000)
      expect(run.seen).toEqual([['end', { c: 1 }]])
    })
  })

  describe(`${name}: task tokens`, () => {
    const asked = (rest: Loose = {}) => machine('A', { A: ask({ ...rest, Next: 'B' }), B: seeInput })

    test('the answer is the result; what the function returned does not matter', async () => {
      const run = await start(asked())
      expect([run.seen, await run.now()]).toEqual([[], { status: 'RUNNING' }])
      expect(await run.answer({ ok: { decision: 'approve' } })).toBe('taken')
      await run.clock.settle()
      expect(run.seen).toEqual([{ decision: 'approve' }])
    })
    test('it waits for weeks', async () => {
      const run = await start(asked())
      await run.clock.advance(60 * DAY)
      expect(await run.answer({ ok: 1 })).toBe('taken')
      await run.clock.settle()
      expect(run.seen).toEqual([1])
    })
    test('a failure is an error like any other', async () => {
      const run = await start(asked({ Catch: [{ ErrorEquals: ['Rejected'], Next: 'B' }] }))
      expect(await run.answer({ error: 'Rejected', cause: 'no' })).toBe('taken')
      await run.clock.settle()
      expect(run.seen).toEqual([{ Error: 'Rejected', Cause: 'no' }])
    })
    test('an answer before the function returned counts; what it then returns or throws does not', async () => {
      for (const later of ['return', 'throw']) {
        const held: { finish?: () => void; place?: MachinePlace } = {}
        const Early: TestFunction = async (payload) => {
          expect(await held.place?.machine.answer((payload as { token: string }).token, { ok: 'early' })).toBe('taken')
          await new Promise<void>((resolve) => {
            held.finish = resolve
          })
          if (later === 'throw') throw new Named('Late', '')
          return 'late'
        }
        const run = await start(
          machine('W', { W: { Type: 'Wait', Seconds: 1, Next: 'A' }, A: ask({ Next: 'B' }, 'Early'), B: seeInput }),
          { Early },
        )
        held.place = run
        await run.clock.advance(1_000)
        expect(run.seen).toEqual(['early'])
        held.finish?.()
        await run.clock.settle()
        expect(await run.now()).toMatchObject(succeeded)
        expect(run.seen).toEqual(['early'])
      }
    })
    test('an error of the function fails the state and closes the token', async () => {
      const tokens: string[] = []
      const Fails: TestFunction = (payload) => {
        tokens.push((payload as { token: string }).token)
        return Promise.reject(new Named('Oops', ''))
      }
      const run = await start(
        machine('A', {
          A: ask({ Catch: [{ ErrorEquals: ['Oops'], Output: { c: 1 }, Next: 'B' }], Next: 'B' }, 'Fails'),
          B: seeInput,
        }),
        { Fails },
      )
      expect(run.seen).toEqual([{ c: 1 }])
      expect(await run.machine.answer(tokens[0] ?? '', { ok: 1 })).toBe('gone')
    })
    test('second, late and unknown answers are gone', async () => {
      const run = await start(
        asked({ TimeoutSeconds: 60, Catch: [{ ErrorEquals: ['States.Timeout'], Output: { late: true }, Next: 'B' }] }),
      )
      await run.clock.advance(60_000)
      expect([run.seen, await run.answer({ ok: 1 })]).toEqual([[{ late: true }], 'gone'])
      const twice = await start(asked())
      const answers = await Promise.all([twice.answer({ ok: 1 }), twice.answer({ ok: 2 })])
      await twice.clock.settle()
      expect([answers, twice.seen]).toEqual([['taken', 'gone'], [1]])
      expect(await twice.answer({ ok: 3 })).toBe('gone')
      expect(await twice.machine.answer('nobody’s', { ok: 1 })).toBe('gone')
    })
    test('a retried state has a new token and the old one is gone', async () => {
      const run = await start(asked({ TimeoutSeconds: 10, Retry: [retry({ ErrorEquals: ['States.Timeout'] })] }))
      await run.clock.advance(11_000)
      expect(new Set(run.tokens).size).toBe(2)
      expect(await run.answer({ ok: 'old' }, 0)).toBe('gone')
      expect(await run.answer({ ok: 'new' }, 1)).toBe('taken')
      await run.clock.settle()
      expect(run.seen).toEqual(['new'])
    })
    test('many tokens wait side by side and are told apart', async () => {
      const branches = Array.from({ length: 20 }, (_, i) => branch(`t${i}`, { [`t${i}`]: ask() }))
      const run = await start(machine('P', { P: { Type: 'Parallel', Branches: branches, Next: 'Z' }, Z: seeInput }))
      expect(new Set(run.tokens).size).toBe(20)
      const order = run.tokens.map((token, index) => [token, index] as const).reverse()
      for (const [token, index] of order) await run.machine.answer(token, { ok: index })
      await run.clock.settle()
      expect(run.seen).toEqual([Array.from({ length: 20 }, (_, i) => i)])
    })
    test('an answer larger than 256 KiB is States.DataLimitExceeded or refused', async () => {
      const run = await start(asked())
      await run.answer({ ok: 'x'.repeat(300_000) }).catch(() => undefined)
      await run.clock.settle()
      expect(run.seen).toEqual([])
    })
  })
}
