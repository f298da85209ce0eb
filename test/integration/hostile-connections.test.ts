import { mkdtempSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPlace, type Place } from '../../infra/local/place.ts'
import { SettingsSchema } from '../../shared/settings/settings.ts'
import { storeRun } from './stored-run.ts'

let dir: string
let place: Place
let port: number
const logged: string[] = []
const sockets: Socket[] = []

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'sluice-connections-'))
  const log = { info: () => undefined, error: (message: string) => void logged.push(message) }
  place = await openPlace(
    SettingsSchema.parse({
      port: 0,
      data_dir: join(dir, 'data'),
      safety: { max_streams: 1_000, max_streams_per_caller: 1_000 },
    }),
    { listen: true, log },
  )
  port = Number(new URL(place.url ?? '').port)
})

afterAll(async () => {
  for (const socket of sockets) socket.destroy()
  await place.close()
  rmSync(dir, { recursive: true })
})

/** A connection that has sent `text`; `received` grows unless it is paused. */
function send(text: string, paused = false): { readonly socket: Socket; received: string; closed: boolean } {
  const socket = connect(port, '127.0.0.1')
  const state = { socket, received: '', closed: false }
  sockets.push(socket)
  socket.on('error', () => undefined)
  socket.on('close', () => {
    state.closed = true
  })
  if (paused) socket.pause()
  else socket.on('data', (chunk) => (state.received += String(chunk)))
  socket.write(text)
  return state
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`
const post = (body: string, headers: string) =>
  `POST /api/dag/validate HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\n${headers}\r\n\r\n${body}`
const until = (holds: () => boolean) => expect.poll(holds, { interval: 20 }).toBe(true)
const answers = ({ received }: { received: string }) => received.match(/HTTP\/1.1 \d+/g)?.length ?? 0

describe('a connection', () => {
  it('gets the answers of pipelined requests in order, the last one too', async () => {
    const client = send(get('/api/health').repeat(50) + get('/api/nothing'))
    await until(() => answers(client) === 51)
    expect(client.received.lastIndexOf('route_not_found')).toBeGreaterThan(client.received.lastIndexOf('"ok"'))
  })

  it('that asks for thousands of answers and reads none is closed, and costs the others nothing', async () => {
    const before = process.memoryUsage().rss
    const clients = Array.from({ length: 20 }, () => send(get('/api/openapi.json').repeat(500), true))
    await until(() => clients.every(({ socket }) => socket.bytesWritten > 0))
    // Whoever waited for them would wait for ever.
    expect((await fetch(`${place.url}/api/config`)).status).toBe(200)
    for (const { socket } of clients) socket.resume()
    await until(() => clients.every(({ closed }) => closed))
    expect(process.memoryUsage().rss - before).toBeLessThan(250_000_000)
  })

  it('that goes away in the middle of a body is no error of ours', async () => {
    const healthy = async () => expect((await fetch(`${place.url}/api/health`)).status).toBe(200)
    const clients = Array.from({ length: 10 }, () => send(post('{', 'Content-Length: 100\r\nExpect: 100-continue')))
    await until(() => clients.every(({ received }) => received.includes('100 Continue')))
    for (const { socket } of clients) socket.destroy()
    for (let count = 0; count < 5; count += 1) await healthy()
    expect(logged).toEqual([])
  })

  it('may send its body byte by byte, and one without end is cut off', async () => {
    const slow = send(`${post('', 'Transfer-Encoding: chunked')}${'1\r\n \r\n'.repeat(50_000)}2\r\n{}\r\n0\r\n\r\n`)
    await until(() => slow.received.includes('"bad_body"'))
    const endless = send(`${post('', 'Transfer-Encoding: chunked')}${`10000\r\n${' '.repeat(65_536)}\r\n`.repeat(20)}`)
    await until(() => endless.received.includes('"body_too_large"') && endless.closed)
  })

  it('that is one of hundreds waiting for events slows nobody, and all of them hear the event', async () => {
    const run = await storeRun(place.world)
    const clients = Array.from({ length: 300 }, () => send(get(`/api/dag/runs/${run.run_id}/events?since=1`)))
    await until(() => clients.every(({ received }) => received.includes('retry: ')))
    const headers = { 'content-type': 'application/json' }
    const body = '{"set":{"a":1},"if_version":0}'
    const path = `${place.url}/api/dag/runs/${run.run_id}/context`
    expect((await fetch(path, { method: 'PATCH', headers, body })).status).toBe(200)
    await until(() => clients.every(({ received }) => received.includes('context:patched')))
  })
})
