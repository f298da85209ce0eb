import { describe, expect, test } from 'vitest'
import { ask, machine, type Start, seeInput, succeeded } from './machine-fixture.ts'

const BEAT_SEC = 120
const MS = 1_000

/** A wait for a token that ends when nobody says in time that it goes on. */
export function heartbeatTests(name: string, start: Start): void {
  describe(`${name}: HeartbeatSeconds and beat()`, () => {
    const caught = { ErrorEquals: ['States.Timeout', 'States.HeartbeatTimeout'], Next: 'B', Output: 'not heard of' }
    const waits = machine('A', {
      A: ask({ HeartbeatSeconds: BEAT_SEC, Output: 'answered', Catch: [caught], Next: 'B' }),
      B: seeInput,
    })

    test('who is not heard of in time is given up, as a time-out that can be caught', async () => {
      const run = await start(waits)
      await run.clock.advance((BEAT_SEC - 1) * MS)
      expect(run.seen).toEqual([])
      await run.clock.advance(2 * MS)
      expect([run.seen, await run.now()]).toMatchObject([['not heard of'], succeeded])
      expect(await run.machine.beat(run.tokens[0] ?? '')).toBe('gone')
      expect(await run.answer({ ok: {} })).toBe('gone')
    })

    test('each beat begins the time anew, and the answer is taken however long that goes on', async () => {
      const run = await start(waits)
      for (let n = 0; n < 4; n += 1) {
        await run.clock.advance((BEAT_SEC - 1) * MS)
        expect(await run.machine.beat(run.tokens[0] ?? '')).toBe('taken')
      }
      expect(run.seen).toEqual([])
      expect(await run.answer({ ok: {} })).toBe('taken')
      await run.clock.settle()
      expect([run.seen, await run.now()]).toMatchObject([['answered'], succeeded])
      expect(await run.machine.beat(run.tokens[0] ?? '')).toBe('gone')
    })

    test('a beat of a token nobody waits with is gone', async () => {
      const run = await start(waits)
      expect(await run.machine.beat('no such token')).toBe('gone')
      await run.machine.stop(run.id, 'run_a', 'a person asked')
      await run.clock.settle()
      expect(await run.machine.beat(run.tokens[0] ?? '')).toBe('gone')
    })
  })
}
