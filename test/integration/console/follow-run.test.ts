import type { ServerResponse } from 'node:http'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { followRun } from '../../../clients/console/run/session/run-events.ts'
import { message, openStreamServer, type StreamServer, status, stream } from './stream-server.ts'

let server: StreamServer | undefined
const control: AbortController[] = []
afterEach(async () => {
  for (const one of control.splice(0)) one.abort()
  await server?.close()
})

/** What a reader of the stream sees until it is over. */
function follow(at: StreamServer) {
  server = at
  const stopped = new AbortController()
  control.push(stopped)
  const seen: number[] = []
  const live: boolean[] = []
  const done = followRun({
    origin: at.origin,
    runId: 'run_x',
    signal: stopped.signal,
    onEvents: (events) => seen.push(...events.map(({ seq }) => seq)),
    onLive: (isLive) => live.push(isLive),
  })
  return { seen, live, done, stop: () => stopped.abort() }
}

const afters = () => server?.asked.map(({ after }) => after)

describe('the events of a run', () => {
  test('are read to the one that ends it, and nobody asks again', async () => {
    const { seen, live, done } = follow(await openStreamServer(stream([1, 2, 3, 9])))
    await done
    expect([seen, live, afters()]).toEqual([[1, 2, 3, 9], [true], ['0']])
  })

  test('go on behind the last one that came after the connection broke, none twice', async () => {
    const again = stream([2, 3, 4, 9])
    const { seen, live, done } = follow(await openStreamServer(stream([1, 2, 3], 'drop'), again))
    await done
    expect([seen, live, afters()]).toEqual([
      [1, 2, 3, 4, 9],
      [true, false, true],
      ['0', '3'],
    ])
  })

  test('go on at once where the server ends a stream with the id of the next: nobody sees a gap', async () => {
    const handsOver = (text: string) => (_: unknown, response: ServerResponse) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(`${text}: goes on after this id\nid: 1\nretry: 1000\n\n`)
    }
    const { seen, live, done } = follow(
      await openStreamServer(handsOver(message(1)), handsOver(''), handsOver(''), stream([2, 9])),
    )
    await done
    expect([seen, new Set(live), afters()]).toEqual([[1, 2, 9], new Set([true]), ['0', '1', '1', '1']])
  })

  test('come once each even if one message brings them twice', async () => {
    const { seen, done } = follow(await openStreamServer(stream([1, 2, 2, 1, 3, 3, 9])))
    await done
    expect(seen).toEqual([1, 2, 3, 9])
  })

  test('are whole wherever the stream is cut, and a message that was cut comes with the next stream', async () => {
    const half = message(3).slice(0, 40)
    const at = await openStreamServer(
      (_, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        const text = `${message(1)}: heartbeat\n\n${message(2)}`
        response.write(text.slice(0, 70))
        setTimeout(() => response.write(text.slice(70)), 20)
        setTimeout(() => response.end(half), 40)
      },
      stream([3, 9]),
    )
    const { seen, done } = follow(at)
    await done
    expect([seen, afters()]).toEqual([
      [1, 2, 3, 9],
      ['0', '2'],
    ])
  })

  test.each([[204], [401], [403], [404], [409]])('status %i ends it: nothing more is to come', async (code) => {
    const { seen, live, done } = follow(await openStreamServer(status(code, code === 204 ? '' : '{}')))
    await done
    expect([seen, live, afters()]).toEqual([[], [], ['0']])
  })

  test('a server that is busy or fails is asked again, with growing pauses', { tags: ['thorough'] }, async () => {
    const { seen, live, done } = follow(await openStreamServer(status(429), status(500), status(503), stream([1, 9])))
    await done
    expect([seen, live]).toEqual([
      [1, 9],
      [false, false, false, true],
    ])
    const times = server?.asked.map(({ at }) => at) ?? []
    const pauses = times.slice(1).map((at, i) => at - (times[i] ?? 0))
    expect(pauses).toHaveLength(3)
    // 500, 1,000 and 2,000 ms; timers of a busy machine come late, never early.
    for (const [i, least] of [480, 980, 1_980].entries()) expect(pauses[i]).toBeGreaterThan(least)
  })

  test('after an event pauses begin small again', { tags: ['thorough'] }, async () => {
    const timers = vi.spyOn(globalThis, 'setTimeout')
    const { done } = follow(await openStreamServer(status(500), status(500), stream([1], 'drop'), stream([9])))
    await done
    // Other files of this thread set timers too: those of pause() in run-events.ts call its end().
    const pauses = timers.mock.calls.filter(([callback]) => /\bend\(\)/.test(String(callback))).map(([, ms]) => ms)
    timers.mockRestore()
    expect(pauses).toEqual([500, 1_000, 500])
  })

  test('leaving the page ends it at once: in the stream, and in a pause', async () => {
    const inStream = follow(await openStreamServer(stream([1], 'stay')))
    await expect.poll(() => inStream.seen).toEqual([1])
    inStream.stop()
    await inStream.done
    await server?.close()
    const inPause = follow(await openStreamServer(status(500)))
    await expect.poll(() => inPause.live).toEqual([false])
    inPause.stop()
    await inPause.done
    expect(server?.asked).toHaveLength(1)
  })
})
