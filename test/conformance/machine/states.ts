import { describe, expect, test } from 'vitest'
import type { Json } from '../../../shared/text/json.ts'
import {
  call,
  DAY,
  INPUT,
  type Loose,
  machine,
  payloadOut,
  retry,
  type Start,
  see,
  seeInput,
  succeeded,
  type TestFunction,
} from './machine-fixture.ts'

/** What single states do with their data. */
export function stateTests(name: string, start: Start): void {
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
}
