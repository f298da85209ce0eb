import { describe, expect, test } from 'vitest'
import { openWaker } from '../../../functions/aws/ports-without-sdk.ts'
import { createVirtualClock } from '../../conformance/virtual-clock.ts'

const RUN = { tenant: 'main', run_id: 'run_a' }

describe('the waker where nobody can be woken', () => {
  /** Milliseconds each wait took. */
  const waits = async (times: number, ms = 15_000) => {
    const clock = createVirtualClock()
    const waker = openWaker({ clock })
    const took = async () => {
      const before = clock.now()
      let done = false
      const wait = waker.changed(RUN, ms).then(() => {
        done = true
      })
      for (await clock.advance(0); !done; ) await clock.advance(100)
      await wait
      return clock.now() - before
    }
    const seen: number[] = []
    for (let i = 0; i < times; i += 1) seen.push(await took())
    return { clock, waker, seen, took }
  }

  test('asks each 500 ms for 10 s, then each 2 s', async () => {
    const { seen } = await waits(22)
    expect(seen).toEqual([...Array.from({ length: 20 }, () => 500), 2_000, 2_000])
  })

  test('is quick again after an event: the reader gave up the wait it had begun', async () => {
    const { waker, took } = await waits(21)
    const reading = new AbortController()
    const wait = waker.changed(RUN, 15_000, reading.signal)
    reading.abort(new Error('read'))
    await expect(wait).rejects.toThrow('read')
    expect(await took()).toBe(500)
  })

  test('never waits longer than asked', async () => {
    expect((await waits(1, 200)).seen).toEqual([200])
    expect((await waits(1, -5)).seen).toEqual([0])
  })

  test('tells runs apart', async () => {
    const { clock, waker } = await waits(21)
    let done = false
    void waker.changed({ ...RUN, run_id: 'run_b' }, 15_000).then(() => {
      done = true
    })
    await clock.advance(500)
    expect(done).toBe(true)
  })

  test('slot() answers at once that nobody was woken', async () => {
    const { waker } = await waits(0)
    expect(await waker.slot(RUN, 60_000)).toBe(false)
  })
})
