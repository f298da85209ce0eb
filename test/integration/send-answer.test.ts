import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { sendAnswer } from '../../infra/local/http-exchange.ts'

const CHUNK = 'x'.repeat(65_536)
const opened: (() => void)[] = []

afterEach(() => {
  for (const close of opened.splice(0)) close()
})

/** A server that streams without end; tells how many chunks were taken and whether the source was let go. */
async function endless() {
  const seen = { taken: 0, released: false }
  async function* source(): AsyncGenerator<string> {
    try {
      for (;;) {
        seen.taken += 1
        yield CHUNK
      }
    } finally {
      seen.released = true
    }
  }
  const gone = new AbortController()
  const server = createServer((_request, response) => {
    response.on('close', () => gone.abort())
    void sendAnswer(response, { statusCode: 200, headers: {}, body: source() }, gone.signal)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const client = connect(typeof address === 'object' && address !== null ? address.port : 0, '127.0.0.1')
  opened.push(
    () => client.destroy(),
    () => server.close(),
  )
  client.pause()
  client.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
  return { seen, client }
}

it('a client that does not read takes no more from the stream than its socket holds', async () => {
  const { seen, client } = await endless()
  await expect.poll(() => seen.taken).toBeGreaterThan(1)
  let before = 0
  for (; before !== seen.taken; await new Promise((resolve) => setTimeout(resolve, 300))) before = seen.taken
  // Socket buffers of both sides: a few megabytes at most.
  expect(before).toBeLessThan(200)
  client.resume()
  await expect.poll(() => seen.taken).toBeGreaterThan(before + 50)
})

it('the source of a stream is let go when the client goes away', async () => {
  const { seen, client } = await endless()
  await expect.poll(() => seen.taken).toBeGreaterThan(1)
  client.destroy()
  await expect.poll(() => seen.released).toBe(true)
})
