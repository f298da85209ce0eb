import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { lambdaEntry } from '../../functions/aws/entry.ts'
import type { LambdaContext } from '../../functions/aws/invocation.ts'
import { limitedRequest, handler as netGate } from '../../functions/gates/net-gate.ts'
import { EgressSettingsSchema } from '../../shared/egress/settings.ts'
import { parseSettings } from '../../shared/settings/parse.ts'
import { completes } from '../emulators/openai-server.ts'
import { type Outside, startOutside } from '../emulators/outside.ts'
import { behaving } from '../emulators/provider-server.ts'
import { NOTHING, serve } from './gates/guarded-servers.ts'
import { openTestPlace, type TestPlace } from './test-place.ts'

/**
 * A place whose requests leave by a proxy. The names below .outside.test are known to the proxy alone: what would go past it
 * arrives nowhere, and everything that arrived is told by the proxy.
 */
const CREDENTIALS = 'sluice:pass word/1'
const json = (body: unknown) => (_request: IncomingMessage, response: ServerResponse) => {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
const model = behaving(completes('well said'))
const SERVERS: Readonly<Record<string, RequestListener>> = {
  model: model.listener,
  crm: json({ name: 'Ana' }),
  status: json({ ok: true }),
  hooks: json({}),
  spans: json({}),
  slack: json({ ok: true }),
  tools: mcp,
}

/** A server of tools that has one. */
async function mcp(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  if (request.method !== 'POST') return void response.writeHead(405).end()
  const { id, method, params } = JSON.parse(text)
  if (id === undefined) return void response.writeHead(202).end()
  const result =
    method === 'initialize'
      ? {
          protocolVersion: params.protocolVersion,
          capabilities: { tools: {} },
          serverInfo: { name: 's', version: '1' },
        }
      : { tools: [{ name: 'find', description: 'Finds.', inputSchema: { type: 'object' } }] }
  json({ jsonrpc: '2.0', id, result })(request, response)
}

const at = (name: string, path = '/') => `https://${name}.outside.test${path}`

function settings(proxy: string, egress: object = {}) {
  return {
    egress: { proxy, credentials: { env: 'PROXY_AUTH' }, hosts: ['*.outside.test'], ...egress },
    providers: { far: { type: 'openai-compatible', url: at('model', '/v1') } },
    services: { crm: { url: at('crm') } },
    mcp_servers: { tools: { url: at('tools', '/mcp'), tools: { all: true } } },
    webhooks: [{ name: 'hook', url: at('hooks'), key: { env: 'HOOK' }, events: ['run:completed'] }],
    telemetry: { otlp: { endpoint: at('spans') } },
    slack: {
      team_id: 'T0TEAM',
      app_id: 'A0APP',
      channel: 'C0CHAN',
      token: { env: 'SLACK' },
      signing_secret: { env: 'SLACK' },
      api_url: at('slack', '/api/'),
    },
  }
}

const KEYS = new Map([
  ['PROXY_AUTH', CREDENTIALS],
  ['HOOK', `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`],
  ['SLACK', 'xoxb-not-a-real-token'],
])

const dagOf = (gated: string) => ({
  name: 'out',
  blocks: [
    {
      id: 'say',
      agent: { provider: 'far', model: 'm', prompt: 'hello' },
      post_gates: [{ name: 'up', check: { type: 'http', url: gated } }],
    },
    {
      id: 'ask',
      mode: 'deterministic',
      deterministic: { handler: 'http', config: { service: 'crm', path: '/customers/1' } },
      outputs: { body: 'json' },
    },
  ],
})
const DAG = dagOf(at('status'))

/** That spans do not arrive is told, and meant so. */
const log = { info: () => undefined, error: () => undefined }

let outside: Outside
beforeAll(async () => {
  outside = await startOutside(SERVERS, CREDENTIALS)
})
afterAll(() => outside.close())
beforeEach(() => outside.forget())

describe('a local place with a proxy', () => {
  let place: TestPlace | undefined
  afterEach(async () => {
    await place?.close()
    place = undefined
  })

  test('sends everything through it: models, services, gates, webhooks, tools, spans, Slack', async () => {
    place = await openTestPlace({ keys: KEYS }, settings(outside.url))
    const { world } = place.place
    const run = await place.start(DAG)
    expect((await place.ended(run)).at(-1)?.type).toBe('run:completed')
    await expect.poll(() => outside.heard).toContain('hooks.outside.test POST /')
    expect(await world.mcp.tools('tools', AbortSignal.timeout(30_000))).toMatchObject([{ name: 'find' }])
    // One by fetch, one by Slack's own client.
    await world.slack?.call('views.open', {})
    await world.slack?.call('auth.test', {})
    await world.telemetry?.flush(5_000)
    expect(new Set(outside.asked)).toEqual(
      new Set(Object.keys(SERVERS).map((name) => `CONNECT ${name}.outside.test:443`)),
    )
    expect(new Set(outside.heard.map((line) => line.split('.')[0]))).toEqual(new Set(Object.keys(SERVERS)))
  })

  test('asks this machine, and whom no_proxy names, straight', async () => {
    const here = await serve((request, response) => void model.listener(request, response))
    const more = { providers: { far: { type: 'openai-compatible', url: `${here.url}/v1` } } }
    place = await openTestPlace(
      { keys: KEYS },
      { ...settings(outside.url, { no_proxy: ['crm.outside.test'] }), ...more },
    )
    const run = await place.start(DAG)
    // Nobody here knows its name.
    const failed = (await place.ended(run)).find(({ type }) => type === 'block:failed')
    expect(JSON.stringify(failed?.data)).toContain('ENOTFOUND')
    expect(here.asked).toEqual(['POST /v1/chat/completions'])
    expect(outside.asked).not.toContain('CONNECT crm.outside.test:443')
    await here.close()
  })

  test('hands nothing to it that no list names, and asks for its credentials', async () => {
    place = await openTestPlace({ keys: KEYS }, settings(outside.url))
    const events = await place.ended(await place.start(dagOf('https://example.com/')))
    expect(JSON.stringify(events)).toContain('host example.com is not in egress.hosts of sluice.yaml')
    expect(outside.asked).not.toContain('CONNECT example.com:443')
    await place.close()
    place = undefined
    const without = openTestPlace({ keys: new Map() }, settings(outside.url))
    await expect(without).rejects.toMatchObject({ code: 'proxy_key_missing' })
    outside.forget()
    const wrong = new Map([...KEYS, ['PROXY_AUTH', 'sluice:wrong']])
    place = await openTestPlace({ keys: wrong, log }, settings(outside.url))
    expect(JSON.stringify(await place.ended(await place.start(DAG)))).toContain('block:failed')
    expect(outside.asked).toContain('CONNECT model.outside.test:443')
    expect(outside.heard).toEqual([])
  })

  test('takes the proxy of HTTPS_PROXY where the settings say so, and goes straight where there is none', async () => {
    const { credentials: _, ...egress } = settings('environment').egress
    const url = new URL(outside.url)
    Object.assign(url, { username: 'sluice', password: encodeURIComponent('pass word/1') })
    const shell = new Map([...KEYS, ['HTTPS_PROXY', url.href], ['NO_PROXY', '.straight.test, 10.0.0.0/8']])
    place = await openTestPlace({ keys: shell }, { ...settings('environment'), egress })
    expect((await place.ended(await place.start(DAG))).at(-1)?.type).toBe('run:completed')
    expect(outside.asked).toContain('CONNECT model.outside.test:443')
    await place.close()
    outside.forget()
    place = await openTestPlace({ keys: KEYS, log }, { ...settings('environment'), egress })
    expect(JSON.stringify(await place.ended(await place.start(DAG)))).toContain('block:failed')
    expect(outside.asked).toEqual([])
  })
})

describe('a gate behind a proxy', () => {
  let place: TestPlace
  beforeAll(async () => {
    place = await openTestPlace({ keys: KEYS }, settings(outside.url))
  })
  afterAll(() => place.close())
  const ask = (url: string, egress: object, found: readonly string[] = [], hosts?: readonly string[]) =>
    limitedRequest(
      { method: 'GET', url, timeout_ms: 30_000 },
      {
        policy: {
          ...NOTHING,
          own_port: 1,
          ...(hosts === undefined ? {} : { hosts: [...hosts] }),
          egress: EgressSettingsSchema.parse({ proxy: outside.url, ...egress }),
        },
        resolve: async () => found,
      },
    )

  test.each([
    ['a host that nobody named', at('status'), {}, [], 'the proxy, which asks only hosts that are named'],
    [
      'a host that leads to a private address',
      at('status'),
      { hosts: ['*.outside.test'] },
      ['10.0.0.1'],
      'leads to an address that is not public (private)',
    ],
    ['a private address', 'http://10.0.0.1/', { hosts: ['10.0.0.1'] }, [], 'not public (private)'],
    ['metadata of a cloud', 'http://169.254.169.254/', { hosts: ['169.254.169.254'] }, [], 'link-local'],
    ['a port that is not allowed', 'https://status.outside.test:8443/', { hosts: ['*.outside.test'] }, [], 'port 8443'],
  ])('does not ask %s', async (_, url, egress, found, reason) => {
    expect(await ask(url, egress, found)).toEqual({ kind: 'refused', reason: expect.stringContaining(reason) })
    expect(outside.asked).toEqual([])
  })

  test('asks over http and https, the hosts of either list', async () => {
    const plain = at('status').replace('https:', 'http:')
    expect(await ask(plain, { hosts: ['*.outside.test'] })).toMatchObject({ kind: 'answered', status: 200 })
    expect(await ask(at('status'), {}, ['203.0.113.9', '93.184.216.34'], ['status.outside.test'])).toMatchObject({
      status: 200,
    })
    expect(outside.asked).toEqual(['GET http://status.outside.test/', 'CONNECT status.outside.test:443'])
  })

  test('says that the proxy refused', async () => {
    expect(await ask('https://elsewhere.example/', { hosts: ['elsewhere.example'] })).toEqual({
      kind: 'failed',
      reason: 'the proxy did not let it through (ERR_PROXY_TUNNEL)',
    })
  })
})

test('settings that name whom their own list does not allow are refused when they are read', () => {
  const text = `
egress: { hosts: [api.example] }
providers: { far: { type: openai-compatible, url: "https://other.example/v1" }, near: { type: ollama, url: "http://127.0.0.1:11434" } }
services: { crm: { url: "https://crm.example" }, api: { url: "https://api.example/v2" } }
`
  expect(() => parseSettings(text, 'sluice.yaml')).toThrow(
    /providers\.far\.url: host other\.example is not in egress\.hosts.*services\.crm\.url: host crm\.example is not/,
  )
})

// The last of this file: a sandbox never gives the proxy back.
test('a function on AWS begins with the proxy of its settings', async () => {
  const open = await startOutside(SERVERS)
  const egress = { proxy: open.url, hosts: ['*.outside.test'] }
  const env = { STAGE: 'dev', AWS_REGION: 'eu-central-1' }
  const call = lambdaEntry({ name: 'net-gate', handler: netGate, ports: {}, settings: { egress } }, env)
  const context = { getRemainingTimeInMillis: () => 30_000 } as LambdaContext
  expect(await call({ method: 'GET', url: at('status'), timeout_ms: 30_000 }, context)).toMatchObject({ status: 200 })
  expect((await fetch(at('crm'))).status).toBe(200)
  // Spans of places that ended may still be under way.
  const asked = open.asked.filter((line) => !line.includes('spans'))
  expect(asked).toEqual(['CONNECT status.outside.test:443', 'CONNECT crm.outside.test:443'])
  await open.close()
})
