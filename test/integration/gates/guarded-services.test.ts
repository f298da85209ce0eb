import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { limitedRequest } from '../../../functions/gates/net-gate.ts'
import { servicePolicy } from '../../../functions/gates/net-target.ts'
import { type LocalServer, serve } from './guarded-servers.ts'

/** What net-gate lets a request of a service reach: its host, its port, its path, and no address it has no right to. */
let server: LocalServer
beforeAll(async () => {
  server = await serve((_, response) => response.end('here'))
})
afterAll(() => server.close())

const PUBLIC = '93.184.216.34'
const refused = (reason: string) => ({ kind: 'refused', reason: expect.stringContaining(reason) })

interface Asking {
  readonly url: string
  readonly private?: boolean
  readonly addresses?: readonly string[]
  readonly asked?: string
  readonly deny_hosts?: readonly string[]
  readonly own_port?: number
}

function ask({ url, private: own = false, addresses, asked = `${url}/x`, deny_hosts = [], own_port = 4040 }: Asking) {
  const request = { method: 'GET', url: asked, timeout_ms: 2_000, service: { name: 's', headers: {} } } as const
  const policy = servicePolicy({ url, private: own }, { deny_hosts: [...deny_hosts], own_port })
  return limitedRequest(request, { policy, ...(addresses === undefined ? {} : { resolve: async () => addresses }) })
}

describe('a private service', () => {
  test('is asked on this machine, on its own port', async () => {
    expect(await ask({ url: server.url, private: true })).toMatchObject({ kind: 'answered', status: 200, body: 'here' })
    expect(
      await ask({ url: `http://crm.internal:${server.port}`, private: true, addresses: ['127.0.0.1'] }),
    ).toMatchObject({ status: 200 })
  })

  test.each([
    ['169.254.169.254', 'metadata'],
    ['fe80::1', 'no global IPv6'],
    ['fd00:ec2::254', 'no global IPv6'],
    ['::ffff:10.0.0.1', 'no global IPv6'],
    ['100.64.0.1', "a provider's customers"],
    ['0.0.0.0', 'this network'],
    ['224.0.0.1', 'multicast'],
  ])('whose name leads to %s is not asked', async (address, reason) => {
    expect(await ask({ url: 'http://crm.internal', private: true, addresses: [address] })).toEqual(refused(reason))
  })

  test('is not asked in clear where its name leads to a public address: its key would be seen', async () => {
    expect(await ask({ url: 'http://crm.internal', private: true, addresses: [PUBLIC] })).toEqual(
      refused('a public address: that is asked over https'),
    )
    expect(await ask({ url: `http://${PUBLIC}`, private: true })).toEqual(refused('over https'))
  })

  test('is not the API of the place itself', async () => {
    expect(await ask({ url: server.url, private: true, own_port: server.port })).toEqual(
      refused('API of this place itself'),
    )
  })
})

describe('another service', () => {
  test.each(['127.0.0.1', '10.0.0.1', '192.168.1.1', 'fd12::1', '169.254.169.254', '::1'])(
    'whose name leads to %s is not asked',
    async (address) => {
      expect(await ask({ url: 'https://crm.example', addresses: [address] })).toMatchObject({ kind: 'refused' })
    },
  )

  test('of a literal address of this machine is told what the operator can say', async () => {
    expect(await ask({ url: 'https://127.0.0.1:8443' })).toEqual(refused('private: true of the service'))
    expect(await ask({ url: 'https://localhost' })).toEqual(refused('private: true of the service'))
  })

  test('of a host that is denied is denied', async () => {
    expect(await ask({ url: 'https://crm.example', deny_hosts: ['*.example'] })).toEqual(
      refused('one the operator denies'),
    )
  })

  test.each([
    'https://crm.example/other',
    'https://crm.example/api/../other',
    'https://crm.example/api/%2e%2e/other',
    'https://evil.example/api/x',
    'https://crm.example:8443/api/x',
    'http://crm.example/api/x',
    'https://u:p@crm.example/api/x',
    'https://crm.example@evil.example/api/x',
  ])('is not asked for %s, whoever wrote that', async (asked) => {
    expect(await ask({ url: 'https://crm.example/api', asked, addresses: [PUBLIC] })).toMatchObject({ kind: 'refused' })
  })
})
