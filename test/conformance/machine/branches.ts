import { describe, expect, test } from 'vitest'
import type { Json } from '../../../shared/text/json.ts'
import {
  ask,
  branch,
  call,
  DAY,
  INPUT,
  type Loose,
  machine,
  Named,
  payloadOut,
  retry,
  type Start,
  see,
  seeInput,
  succeeded,
  type TestFunction,
} from './machine-fixture.ts'

/** States of many branches. */
export function branchTests(name: string, start: Start): void {
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
      let begun = 0
      const all = Promise.withResolvers<null>()
      const Busy: TestFunction = () => {
        begun += 1
        if (begun === 150) all.resolve(null)
        return all.promise
      }
      const branches = Array.from({ length: 150 }, (_, i) =>
        branch(`b${i}`, { [`b${i}`]: call('Busy', {}, { ...payloadOut, End: true }) }),
      )
      const run = await start(parallel(branches), { Busy })
      await run.clock.settle()
      expect([begun, (run.seen[0] as Json[]).length]).toEqual([150, 150])
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
}
