import { describe, expect, test } from 'vitest'
import {
  ask,
  branch,
  call,
  DAY,
  INPUT,
  type Loose,
  type MachinePlace,
  machine,
  Named,
  retry,
  type Start,
  see,
  seeInput,
  succeeded,
  type TestFunction,
} from './machine-fixture.ts'

/** An execution from start to end, and the tokens it waits for. */
export function executionTests(name: string, start: Start): void {
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
      expect(await run.machine.ensure(text, run.hash)).toBe(run.id)
    })
    test('named() says what ensure() answers, and makes nothing', async () => {
      const text = machine('A', { A: { Type: 'Succeed' } })
      const run = await start(text)
      expect(await run.machine.named(text, run.hash)).toBe(run.id)
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
