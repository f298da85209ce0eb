import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, test } from 'vitest'
import { limitedRequest } from '../../../functions/gates/net-gate.ts'
import { askHere, type LocalServer, NOTHING, serve, serveBytes } from './guarded-servers.ts'

/** Servers that misbehave: each gets an answer of ours, none an exception, none more than its share of time and memory. */
const open: LocalServer[] = []
afterEach(() => Promise.all(open.splice(0).map((server) => server.close())))
const web = async (...given: Parameters<typeof serve>) => opened(await serve(...given))
const bytes = async (...given: Parameters<typeof serveBytes>) => opened(await serveBytes(...given))
function opened(server: LocalServer): LocalServer {
  open.push(server)
  return server
}
const failed = (reason: string) => ({ kind: 'failed', reason: expect.stringContaining(reason) })
const refused = (reason: string) => ({ kind: 'refused', reason: expect.stringContaining(reason) })
const soon = { request: { timeout_ms: 300 } }

describe('redirects', () => {
  test('three are followed, a relative one too, and the last URL is told', async () => {
    const steps: Readonly<Record<string, string>> = { '/a': '/b', '/b': 'c?x=1', '/c?x=1': '//127.0.0.1' }
    const server = await web((request, response) => {
      const to = steps[request.url ?? '']?.replace('//127.0.0.1', `//127.0.0.1:${server.port}/end`)
      if (to === undefined) response.end('here')
      else response.writeHead(302, { location: to }).end()
    })
    const answer = await askHere([server], `${server.url}/a`)
    expect(answer).toEqual({ kind: 'answered', status: 200, url: `${server.url}/end`, body: 'here' })
  })

  test('a fourth, and so a loop, is refused', async () => {
    const server = await web((request, response) => response.writeHead(301, { location: request.url }).end())
    expect(await askHere([server], `${server.url}/a`)).toEqual(refused('more than 3 redirects'))
    expect(server.asked).toHaveLength(4)
  })

  test.each([
    ['http://169.254.169.254/latest/meta-data/', 'metadata'],
    ['//169.254.169.254/', 'metadata'],
    ['\\\\169.254.169.254/', 'a redirect'],
    ['http://[::ffff:169.254.169.254]/', 'no global IPv6'],
    ['http://2852039166/', 'as it is written'],
    ['http://10.0.0.1/', 'private'],
    ['http://0.0.0.0/', 'this network'],
    ['http://example.com:22/', 'port 22'],
    ['file:///etc/passwd', 'not http or https'],
    ['http://user:pw@example.com/', 'user name or password'],
    ['http:/example.com', 'as it is written'],
    ['javascript:alert(1)', 'not http or https'],
  ])('one to %s is refused', async (location, reason) => {
    const server = await web((_, response) => response.writeHead(302, { location }).end())
    const answer = await askHere([server], server.url)
    expect(answer).toEqual(refused(reason))
    expect(answer).toEqual(refused('a redirect'))
  })

  test('one without a place to go is an answer, and so is one nobody wants to follow', async () => {
    const nowhere = await web((_, response) => response.writeHead(302).end())
    expect(await askHere([nowhere], nowhere.url)).toMatchObject({ kind: 'answered', status: 302 })
    const server = await web((_, response) => response.writeHead(308, { location: '/next' }).end())
    const unfollowed = await askHere([server], server.url, { request: { follow: false } })
    expect(unfollowed).toMatchObject({ kind: 'answered', status: 308 })
    const posted = await askHere([server], server.url, { request: { method: 'POST', body: { a: 1 } } })
    expect(posted).toMatchObject({ kind: 'answered', status: 308 })
    expect(server.asked).toEqual(['GET /', 'POST /'])
  })
})

describe('time', () => {
  test('a server that says nothing, and one whose head drips, are given up', async () => {
    const silent = await bytes(() => undefined)
    expect(await askHere([silent], silent.url, soon)).toEqual(failed('within 300 ms'))
    const slow = await bytes((socket) => drip(socket, 'HTTP/1.1 200 OK\r\nx: ', 'y'))
    expect(await askHere([slow], slow.url, soon)).toEqual(failed('within 300 ms'))
  })

  test('so is a body that drips, however lively it is', async () => {
    const server = await bytes((socket) => drip(socket, 'HTTP/1.1 200 OK\r\ncontent-length: 50000\r\n\r\n', 'z'))
    // The whole of it would take a quarter of an hour.
    expect(await askHere([server], server.url, soon)).toEqual(failed('within 300 ms'))
  })

  test('redirects share one limit', async () => {
    const server = await web((request, response) => {
      setTimeout(() => response.writeHead(302, { location: `${request.url}x` }).end(), 150)
    })
    expect(await askHere([server], server.url, soon)).toEqual(failed('within 300 ms'))
  })

  test('a name server that says nothing is given up', async () => {
    const resolve = () => new Promise<never>(() => undefined)
    const answer = await askHere([{ port: 80 }], 'http://slow.example/', { ...soon, resolve })
    expect(answer).toEqual(failed('within 300 ms'))
  })

  test("the caller's end is the request's", async () => {
    const silent = await bytes(() => undefined)
    const policy = { ...NOTHING, loopback: true, ports: [silent.port], own_port: 1 }
    const request = { method: 'GET', url: silent.url, timeout_ms: 20_000 } as const
    const answer = await limitedRequest(request, { policy, signal: AbortSignal.timeout(50) })
    expect(answer).toMatchObject({ kind: 'failed' })
  })
})

describe('bodies', () => {
  test('of a huge one 64 KiB are read, and the server is hung up on', async () => {
    let sent = 0
    const server = await bytes((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000000000\r\n\r\n')
      const more = (): void => {
        while (!socket.destroyed && sent < 1e9 && socket.write(Buffer.alloc(65_536, 'a'))) sent += 65_536
        socket.once('drain', more)
      }
      more()
    })
    const answer = await askHere([server], server.url)
    expect(answer).toEqual({
      kind: 'answered',
      status: 200,
      url: `${server.url}/`,
      body: 'a'.repeat(65_536),
      body_cut: true,
    })
    expect(sent).toBeLessThan(50_000_000)
  })

  test('a zip bomb stays what it is: nothing is asked for packed, and nothing is unpacked', async () => {
    const packed = gzipSync(Buffer.alloc(20_000_000))
    const server = await web((request, response) => {
      expect(request.headers['accept-encoding']).toBe('identity')
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(packed)
    })
    const answer = await askHere([server], server.url)
    expect(answer).toMatchObject({ kind: 'answered', status: 200 })
    expect(JSON.stringify(answer).length).toBeLessThan(1_000_000)
  })

  test('HEAD has none, whatever the server says of its length', async () => {
    const server = await web((_, response) => response.writeHead(204, { 'x-a': 'b' }).end())
    const request = { method: 'HEAD' } as const
    expect(await askHere([server], server.url, { request })).toMatchObject({ kind: 'answered', status: 204, body: '' })
    const lying = await bytes((socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n'))
    expect(await askHere([lying], lying.url, { request })).toMatchObject({ kind: 'answered', body: '' })
    expect(server.asked).toEqual(['HEAD /'])
  })

  test('a POST sends JSON', async () => {
    const server = await web((request, response) => {
      let text = ''
      request.on('data', (chunk) => (text += chunk))
      request.on('end', () => response.end(`${request.headers['content-type']} ${text}`))
    })
    const request = { method: 'POST', body: { v: 1, text: 'ü' } } as const
    const answer = await askHere([server], server.url, { request })
    expect(answer).toMatchObject({ body: 'application/json {"v":1,"text":"ü"}' })
  })
})

describe('what goes wrong', () => {
  test('nobody listens; the server breaks off; it talks something else; it wants another protocol', async () => {
    const gone = await serve(() => undefined)
    await gone.close()
    expect(await askHere([gone], gone.url)).toEqual(failed('ECONNREFUSED'))
    const rude = await bytes((socket) => socket.once('data', () => socket.destroy()))
    expect(await askHere([rude], rude.url)).toEqual(failed('broke off'))
    const cut = await bytes((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc'))
    expect(await askHere([cut], cut.url)).toMatchObject({ kind: 'failed' })
    const smtp = await bytes((socket) => socket.write('220 mail ESMTP\r\n'))
    expect(await askHere([smtp], smtp.url)).toEqual(failed('HPE_INVALID'))
    const switched = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'
    const other = await bytes((socket) => socket.write(switched))
    expect(await askHere([other], other.url, soon)).toMatchObject({ kind: 'failed' })
  })

  test('endless headers are not read to their end', async () => {
    const server = await bytes((socket) => socket.write(`HTTP/1.1 200 OK\r\n${'x-a: bbbbbbbb\r\n'.repeat(100_000)}`))
    expect(await askHere([server], server.url)).toEqual(failed('HPE_HEADER_OVERFLOW'))
  })

  test('TLS: a server without it, and a name that is not there', async () => {
    const plain = await web((_, response) => response.end())
    const secure = plain.url.replace('http:', 'https:')
    expect(await askHere([plain], secure)).toEqual(failed('the connection failed (E'))
    expect(plain.asked).toEqual([])
    const resolve = () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' }))
    expect(await askHere([], 'https://nowhere.example/', { resolve })).toEqual(failed('no host of that name'))
  })
})

test('what is sent names us, and nothing of the caller, his environment or an earlier answer', async () => {
  const seen: unknown[] = []
  const server = await web((request, response) => {
    seen.push(request.headers)
    response
      .setHeader('set-cookie', 'id=1')
      .writeHead(request.url === '/' ? 302 : 200, { location: '/b' })
      .end()
  })
  await askHere([server], `${server.url}/`)
  const host = `127.0.0.1:${server.port}`
  const headers = { host, 'user-agent': 'sluice-gate/1', accept: '*/*', 'accept-encoding': 'identity' }
  expect(seen).toEqual([1, 2].map(() => ({ ...headers, connection: 'close' })))
})

function drip(socket: { write(text: string): unknown; readonly destroyed: boolean }, head: string, drop: string): void {
  socket.write(head)
  const timer = setInterval(() => (socket.destroyed ? clearInterval(timer) : socket.write(drop)), 20)
}
