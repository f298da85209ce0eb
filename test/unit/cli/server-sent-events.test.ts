import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readServerSentEvents, type ServerSentEvent } from '../../../clients/cli/server/event-stream.ts'

async function read(...chunks: string[]): Promise<ServerSentEvent[]> {
  const messages: ServerSentEvent[] = []
  const stream = (async function* () {
    yield* chunks
  })()
  for await (const message of readServerSentEvents(stream)) messages.push(message)
  return messages
}

describe('readServerSentEvents()', () => {
  test('reads id, event and data', async () => {
    expect(await read('id: 7\nevent: block:started\ndata: {"a":1}\n\n')).toEqual([
      { id: '7', event: 'block:started', data: '{"a":1}' },
    ])
  })

  test('joins data lines, leaves out comments, retry and unknown fields, takes one space after the colon', async () => {
    expect(await read('retry: 1000\n: heartbeat\n\ndata:  a\ndata:b\nx: y\n\n')).toEqual([
      { id: '', event: 'message', data: ' a\nb' },
    ])
  })

  test('drops a message the stream ends in the middle of', async () => {
    expect(await read('data: whole\n\nid: 2\ndata: half\n')).toEqual([{ id: '', event: 'message', data: 'whole' }])
  })

  test.each(['\n', '\r\n', '\r'])('gives the same messages wherever the chunks end, lines ended by %j', async (end) => {
    const message = fc.record({
      id: fc.nat().map(String),
      data: fc.string().map((text) => text.replace(/[\r\n]/g, '.')),
    })
    const cases = fc.tuple(fc.array(message), fc.array(fc.nat(400)))
    await fc.assert(
      fc.asyncProperty(cases, async ([messages, cuts]) => {
        // A last comment: a lone \r at the very end of a stream could still become \r\n.
        const text = `${messages.map(({ id, data }) => `id: ${id}${end}data: ${data}${end}${end}`).join('')}:end${end}`
        const edges = [0, ...cuts.map((cut) => Math.min(cut, text.length)).sort((a, b) => a - b), text.length]
        const chunks = edges.slice(1).map((edge, index) => text.slice(edges[index], edge))
        const expected = messages.map(({ id, data }) => ({ id, event: 'message', data }))
        expect(await read(...chunks)).toEqual(expected)
      }),
    )
  })
})
