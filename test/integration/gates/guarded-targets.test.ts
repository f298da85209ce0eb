import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ask, askHere, type LocalServer, serve } from './guarded-servers.ts'

/** Whom the guard refuses. A server listens on this machine and must never hear of it. */
let victim: LocalServer
beforeAll(async () => {
  victim = await serve((_, response) => response.end('secret'))
})
afterAll(() => victim.close())

const PUBLIC = '93.184.216.34'
const opened = () => ({ ports: [victim.port] })

describe('an address that is not public', () => {
  test.each([
    ['127.0.0.1', 'not public (loopback)'],
    ['127.9.9.9', 'not public (loopback)'],
    ['2130706433', 'as it is written'],
    ['0x7f000001', 'as it is written'],
    ['0x7f.0.0.1', 'as it is written'],
    ['0177.0.0.1', 'as it is written'],
    ['127.1', 'as it is written'],
    ['127.0.1', 'as it is written'],
    ['127.0.0.1.', 'as it is written'],
    ['127.000.000.001', 'as it is written'],
    ['%31%32%37.0.0.1', 'as it is written'],
    ['①②⑦.0.0.1', 'percent-encoded'],
    ['127。0。0。1', 'percent-encoded'],
    ['１２７.0.0.1', 'percent-encoded'],
    ['localhost', 'is this machine'],
    ['LOCALHOST', 'is this machine'],
    ['a.localhost', 'is this machine'],
    ['localhost.', 'ends with a dot'],
    ['example.com.', 'ends with a dot'],
    ['ⓛocalhost', 'percent-encoded'],
    ['[::1]', 'not public (loopback)'],
    ['[0:0:0:0:0:0:0:1]', 'not public (loopback)'],
    ['[::ffff:127.0.0.1]', 'not public (loopback)'],
    ['[::ffff:7f00:1]', 'not public (loopback)'],
    ['[::127.0.0.1]', 'no global IPv6'],
    ['[64:ff9b::7f00:1]', 'no global IPv6'],
    ['[2002:7f00:1::]', '6to4'],
    ['[::]', 'no global IPv6'],
    ['[fe80::1%25eth0]', 'is not one'],
    ['0.0.0.0', 'this network'],
    ['0', 'as it is written'],
    ['169.254.169.254', 'metadata'],
    ['[fd00:ec2::254]', 'no global IPv6'],
    ['[::ffff:169.254.169.254]', 'no global IPv6'],
    ['[::ffff:a9fe:a9fe]', 'no global IPv6'],
    ['10.0.0.1', 'private'],
    ['192.168.0.1', 'private'],
    ['100.64.0.1', 'customers'],
  ])('http://%s is refused', async (host, reason) => {
    const answer = await ask(`http://${host}:${victim.port}/`, { policy: opened() })
    expect(answer).toEqual({ kind: 'refused', reason: expect.stringContaining(reason) })
  })

  test.each([
    [['127.0.0.1'], 'loopback'],
    [['::1'], 'loopback'],
    [['::ffff:127.0.0.1'], 'loopback'],
    [['169.254.169.254'], 'metadata'],
    [['fd00:ec2::254'], 'no global'],
    [['10.0.0.7', '192.168.0.7'], 'private'],
    [['fe80::1%eth0'], 'no public address'],
    [['not an address'], 'no public address'],
    [[], 'has no address'],
  ])('a name that leads to %j is refused, and which one it is is not told', async (found, reason) => {
    const url = `http://rebind.example:${victim.port}/`
    const answer = await ask(url, { policy: opened(), resolve: async () => found })
    expect(answer).toEqual({ kind: 'refused', reason: expect.stringContaining(reason) })
    expect(JSON.stringify(answer)).not.toContain(found[0] ?? 'nothing')
  })

  test('punycode and underscores are names like others: their addresses decide', async () => {
    for (const host of ['xn--bcher-kva.example', '_x.example']) {
      const answer = await ask(`http://${host}/`, { resolve: async () => ['127.0.0.1'] })
      expect(answer).toMatchObject({ kind: 'refused', reason: expect.stringContaining(`${host} leads to`) })
    }
  })

  test('with the switch on, this machine is asked, and still nothing else that is not public', async () => {
    expect(await askHere([victim], `${victim.url}/a`)).toMatchObject({ kind: 'answered', body: 'secret' })
    const named = await askHere([victim], `http://localhost:${victim.port}/b`, { resolve: async () => ['127.0.0.1'] })
    expect(named).toMatchObject({ kind: 'answered' })
    for (const host of ['0.0.0.0', '[::ffff:127.0.0.1]', '10.0.0.1', '169.254.169.254', '[::]', '127.1']) {
      expect(await askHere([victim], `http://${host}:${victim.port}/`)).toMatchObject({ kind: 'refused' })
    }
    expect(victim.asked.splice(0)).toEqual(['GET /a', 'GET /b'])
  })

  test('with the switch on, the API of the place itself is refused, by address and by name', async () => {
    const policy = { ports: [4040], loopback: true }
    const refusal = { kind: 'refused', reason: expect.stringContaining('API of this place itself') }
    expect(await ask('http://127.0.0.1:4040/api/health', { policy })).toEqual(refusal)
    expect(await ask('http://localhost:4040/', { policy, resolve: async () => ['::1'] })).toEqual(refusal)
  })
})

describe('DNS rebinding', () => {
  test('a name is resolved once a connection: a second answer is never asked for', async () => {
    const answers = [[PUBLIC], ['127.0.0.1'], ['127.0.0.1']]
    let lookups = 0
    const resolve = async () => answers[lookups++] ?? []
    const request = { timeout_ms: 300 }
    const answer = await ask(`http://rebind.example:${victim.port}/`, { policy: opened(), resolve, request })
    // Nobody answers at the public address from here; what counts is who was not asked.
    expect(answer.kind).toBe('failed')
    expect(lookups).toBe(1)
  })

  test('of an answer with a public and a private address only the public one is connected to', async () => {
    const resolve = async () => ['127.0.0.1', PUBLIC, '::1']
    const request = { timeout_ms: 300 }
    const answer = await ask(`http://rebind.example:${victim.port}/`, { policy: opened(), resolve, request })
    expect(answer.kind).toBe('failed')
  })

  test('after a redirect the name is resolved and checked again', async () => {
    const front = await serve((_, response) => response.writeHead(302, { location: '/next' }).end())
    const answers = [['127.0.0.1'], ['10.0.0.1']]
    const resolve = async () => answers.shift() ?? []
    const answer = await askHere([front], `http://rebind.example:${front.port}/`, { resolve })
    expect(answer).toMatchObject({ kind: 'refused', reason: expect.stringContaining('private') })
    expect(front.asked).toEqual(['GET /'])
    await front.close()
  })
})

describe('what a URL may say', () => {
  test.each([
    ['ftp://example.com/', 'not http or https'],
    ['file:///etc/passwd', 'not http or https'],
    ['gopher://example.com/', 'not http or https'],
    ['data:text/plain,x', 'not http or https'],
    ['http://user:pw@example.com/', 'user name or password'],
    ['http://user@example.com/', 'user name or password'],
    ['http://example.com:22/', 'port 22 is not allowed'],
    ['https://example.com:8443/', 'port 8443 is not allowed'],
    ['http://example.com:0/', 'port 0 is not allowed'],
    ['http:/example.com', 'as it is written'],
    ['http:\\\\example.com', 'percent-encoded'],
    ['http://exa mple.com', 'percent-encoded'],
    ['http://a\r\nHost: b/', 'percent-encoded'],
    ...[
      'abc123.execute-api.eu-central-1.amazonaws.com',
      'abc123.execute-api.cn-north-1.amazonaws.com.cn',
      'abc123.execute-api.eu-central-1.api.aws',
      'abc123-vpce-0b7a22d021cc42f88.execute-api.eu-central-1.amazonaws.com',
      'vpce-0b7a22d021cc42f88-gectb2xb.execute-api.eu-central-1.vpce.amazonaws.com',
      'execute-api.eu-central-1.amazonaws.com',
      'abcdefghij0123456789.lambda-url.eu-central-1.on.aws',
    ].map((host): [string, string] => [`https://${host}/dev`, "this deployment's own API"]),
    ['', 'is empty'],
  ])('%j is refused', async (url, reason) => {
    expect(await ask(url)).toEqual({ kind: 'refused', reason: expect.stringContaining(reason) })
  })

  test("the operator's lists: more ports, only these hosts, never those", async () => {
    const resolve = async () => ['10.0.0.1']
    const policy = { ports: [8443], hosts: ['status.example', '*.ok.example'], deny_hosts: ['bad.ok.example'] }
    const reasonOf = async (url: string) => {
      const answer = await ask(url, { policy, resolve })
      return answer.kind === 'refused' ? answer.reason : answer.kind
    }
    expect(await reasonOf('https://status.example:8443/')).toMatch(/leads to/)
    expect(await reasonOf('https://a.ok.example/')).toMatch(/leads to/)
    expect(await reasonOf('https://bad.ok.example/')).toMatch(/denies/)
    expect(await reasonOf('https://ok.example/')).toMatch(/not in http_gates.hosts/)
    expect(await reasonOf('https://notok.example/')).toMatch(/not in http_gates.hosts/)
  })
})

test('nobody of all these reached the server of this machine', () => {
  expect(victim.asked).toEqual([])
})
