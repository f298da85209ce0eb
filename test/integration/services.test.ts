import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { RunEvent } from '../../shared/runs/event.ts'
import type { Json } from '../../shared/text/json.ts'
import { type LocalServer, serve } from './gates/guarded-servers.ts'
import { openTestPlace, type TestPlace } from './test-place.ts'

/** Whole runs of the local place whose blocks ask a service of this machine that the operator named. */
const KEY = 'crm-key-0123456789'

interface Heard {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

type Answering = (heard: Heard, response: ServerResponse) => unknown

let server: LocalServer
let other: LocalServer
let place: TestPlace
let answering: Answering
const heard: Heard[] = []
const logged: string[] = []

beforeAll(async () => {
  server = await serve(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    const { method = '', url = '', headers } = request
    heard.push({ method, url, headers, body })
    answering({ method, url, headers, body }, response)
  })
  other = await serve((_, response) => response.end('stolen'))
  const log = {
    info: (...told: unknown[]) => void logged.push(JSON.stringify(told)),
    error: (...told: unknown[]) => void logged.push(JSON.stringify(told)),
  }
  const services = {
    crm: { url: `${server.url}/api`, private: true, key: { env: 'CRM_KEY' } },
    hasty: { url: `${server.url}/api`, private: true, key: { env: 'CRM_KEY' }, header: 'x-api-key', timeout_ms: 300 },
    open: { url: server.url, private: true },
    nokey: { url: server.url, private: true, key: { env: 'NOBODY_SET_IT' } },
    closed: { url: server.url.replace('http:', 'https:') },
  }
  // No gate may ask anybody: naming a service is what allows it.
  place = await openTestPlace({ keys: new Map([['CRM_KEY', KEY]]), log }, { services, http_gates: { hosts: [] } })
})
afterAll(async () => {
  await place.close()
  await server.close()
  await other.close()
})
beforeEach(() => {
  heard.splice(0)
  answering = (_, response) => json(response, 200, { ok: true })
})

function json(
  response: ServerResponse,
  status: number,
  value: object,
  headers: Readonly<Record<string, string>> = {},
): void {
  response
    .writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers })
    .end(JSON.stringify(value))
}

const asking = (config: object, more: object = {}) => ({
  name: 'asking',
  inputs: { id: { type: 'json', default: '7' } },
  blocks: [
    {
      id: 'a',
      mode: 'deterministic',
      outputs: { body: 'json' },
      deterministic: { handler: 'http', config: { service: 'crm', path: '/customers/{{inputs.id}}', ...config } },
      ...more,
    },
  ],
})

interface Ran {
  readonly events: readonly RunEvent[]
  readonly end: string | undefined
  /** Of the failure: code and reason. */
  readonly failed: Readonly<Record<string, unknown>>
  readonly outputs: Readonly<Record<string, Json>>
}

async function ran(dag: object, inputs: Readonly<Record<string, Json>> = {}): Promise<Ran> {
  const id = await place.start(dag, { inputs })
  const events = await place.ended(id)
  const failed = events.findLast(({ type }) => type === 'block:failed')?.data ?? {}
  expect(JSON.stringify(events)).not.toContain(KEY)
  return { events, end: events.at(-1)?.type, failed: { ...failed }, outputs: await outputsOf(id) }
}

/** Values of the block's ports; none where it did not complete. */
async function outputsOf(run_id: string): Promise<Ran['outputs']> {
  const pathParameters = { run_id, block_id: 'a' }
  const answer = await place.place.invoke('get-outputs', { ...GET, pathParameters })
  const { body } = answer as { readonly body: string }
  return JSON.parse(body).outputs ?? {}
}

const GET = {
  httpMethod: 'GET',
  path: '/',
  headers: {},
  pathParameters: null,
  queryStringParameters: null,
  body: null,
  isBase64Encoded: false,
}

describe('a block that asks a service', () => {
  test('sends what its config says, with the key of the service, and its outputs are the answer by name', async () => {
    answering = (_, response) => json(response, 200, { name: 'Ana' }, { 'x-page': '2', 'set-cookie': 'session=secret' })
    const dag = asking(
      { query: { q: '{{inputs.id}}', page: 2 }, headers: { 'X-Trace': 'a {{inputs.id}}' } },
      { outputs: { status: 'number', headers: 'json', customer: 'json' } },
    )
    const { end, outputs } = await ran(dag, { id: 'x?a=b&c' })
    expect(end).toBe('run:completed')
    expect(outputs).toMatchObject({ status: 200, customer: { name: 'Ana' }, headers: { 'x-page': '2' } })
    expect(JSON.stringify(outputs)).not.toContain('session')
    expect(heard).toMatchObject([
      { method: 'GET', url: '/api/customers/x%3Fa%3Db%26c?page=2&q=x%3Fa%3Db%26c', body: '' },
    ])
    expect(heard[0]?.headers).toMatchObject({ authorization: `Bearer ${KEY}`, 'x-trace': 'a x?a=b&c' })
    expect(heard[0]?.headers['idempotency-key']).toBe(undefined)
  })

  test.each(['POST', 'PUT', 'PATCH', 'DELETE'])('by %s sends JSON and the key of its attempt', async (method) => {
    const body = { to: '{{inputs.id}}', whole: 'no. {{inputs.id}}' }
    const { end } = await ran(asking({ method, service: 'hasty', body }), { id: 7 })
    expect(end).toBe('run:completed')
    expect(heard).toMatchObject([{ method, url: '/api/customers/7', body: '{"to":7,"whole":"no. 7"}' }])
    expect(heard[0]?.headers).toMatchObject({
      'x-api-key': KEY,
      'content-type': 'application/json',
      'idempotency-key': expect.stringMatching(/^run_.*\/0\/0\/1\/0$/),
    })
    expect(heard[0]?.headers.authorization).toBe(undefined)
  })

  test('computes its body where the config has an expression, and may bring its own idempotency key', async () => {
    const config = {
      method: 'POST',
      body_expression: '{"n": inputs.id + 1}',
      headers: { 'Idempotency-Key': 'order-{{inputs.id}}' },
    }
    const { end } = await ran(asking(config), { id: 7 })
    expect([end, heard[0]?.body, heard[0]?.headers['idempotency-key']]).toEqual(['run:completed', '{"n":8}', 'order-7'])
  })

  test('gets a text where the answer is none of JSON, and JSON as it is written in a string', async () => {
    answering = (_, response) => response.writeHead(200, { 'content-type': 'text/csv' }).end('a,b\n')
    expect((await ran(asking({}))).outputs).toEqual({ body: 'a,b\n' })
    answering = (_, response) => response.writeHead(200, { 'content-type': 'application/hal+json' }).end('{ "a": 1 }')
    expect((await ran(asking({}, { outputs: { text: 'string' } }))).outputs).toEqual({ text: '{ "a": 1 }' })
    expect((await ran(asking({}))).outputs).toEqual({ body: { a: 1 } })
  })

  test('does without outputs, and without a body in the answer', async () => {
    answering = (_, response) => response.writeHead(204).end()
    expect(await ran(asking({ method: 'DELETE' }, { outputs: {} }))).toMatchObject({ end: 'run:completed' })
    const { outputs } = await ran(asking({ method: 'DELETE' }, { outputs: { status: 'number' } }))
    expect(outputs).toEqual({ status: 204 })
  })

  test('is behind the same gates as every block', async () => {
    const post_gates = [
      { name: 'found', check: { type: 'json_path', port: 'body', path: '$.ok', equals: false }, on_fail: 'fail' },
    ]
    const { end, failed } = await ran(asking({}, { post_gates }))
    expect([end, failed.code]).toEqual(['run:failed', 'post_gate_failed'])
  })
})

const RETRY = { retry: { max_attempts: 3, delay_ms: 1, max_delay_ms: 1 } }

describe('what a service answers', () => {
  test.each([400, 401, 403, 404, 409, 422])('%i fails the block for good', async (status) => {
    answering = (_, response) => json(response, status, { error: { message: `no such customer, says ${KEY}` } })
    const { failed } = await ran(asking({}, RETRY))
    expect(failed).toMatchObject({
      code: 'service_refused',
      reason: expect.stringContaining(`service "crm": it answered ${status}`),
    })
    expect(heard).toHaveLength(1)
    if (status === 409) expect(failed.reason).toMatch(/"no such customer, says \[redacted\]".*accept: \[409\]/)
  })

  test.each([
    [408, 'service_timeout'],
    [425, 'service_unavailable'],
    [429, 'service_throttled'],
    [500, 'service_unavailable'],
    [503, 'service_unavailable'],
    [504, 'service_timeout'],
  ])('%i is tried again as the retry of the block allows', async (status, code) => {
    answering = (_, response) => json(response, status, {})
    const { failed } = await ran(asking({ method: 'POST' }, RETRY))
    expect(failed).toMatchObject({ code })
    expect(heard).toHaveLength(3)
    // Another attempt is another request.
    expect(new Set(heard.map(({ headers }) => headers['idempotency-key'])).size).toBe(3)
  })

  test('retry-after is waited for', async () => {
    answering = (_, response) =>
      heard.length === 1 ? json(response, 429, {}, { 'retry-after': '2' }) : json(response, 200, { ok: true })
    const { end, events } = await ran(asking({}, RETRY))
    expect(end).toBe('run:completed')
    const retrying = events.find(({ type }) => type === 'block:retrying')
    const again = events.findLast(({ type }) => type === 'block:started')
    expect(Date.parse(again?.at ?? '') - Date.parse(retrying?.at ?? '')).toBeGreaterThanOrEqual(1_900)
  })

  test('a status the block accepts is a value', async () => {
    answering = (_, response) => json(response, 404, { none: true })
    const { end, outputs } = await ran(asking({ accept: [404] }, { outputs: { status: 'number', body: 'json' } }))
    expect([end, outputs]).toEqual(['run:completed', { status: 404, body: { none: true } }])
  })

  test('10 MB are refused with the limit, and not read', async () => {
    answering = (_, response) => response.writeHead(200).end('x'.repeat(10_000_000))
    const { failed } = await ran(asking({}, RETRY))
    expect(failed).toMatchObject({
      code: 'service_invalid',
      reason: expect.stringMatching(/more than 65536 bytes.*Ask for less/),
    })
    expect(heard).toHaveLength(1)
  })

  test('one that does not come is given up after timeout_ms of the service, and tried again', async () => {
    answering = () => undefined
    const { failed } = await ran(asking({ service: 'hasty' }, { retry: { max_attempts: 2, delay_ms: 1 } }))
    expect(failed).toMatchObject({
      code: 'service_unavailable',
      reason: expect.stringContaining('no whole answer within 300 ms'),
    })
    expect(heard).toHaveLength(2)
  })

  test('JSON that is none fails for good, with what to do', async () => {
    answering = (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"a":')
    expect((await ran(asking({}))).failed).toMatchObject({
      code: 'service_invalid',
      reason: expect.stringContaining('Make the output a string'),
    })
  })

  test('its key, told back by the service, is in no output, no event and no log', async () => {
    answering = ({ headers }, response) =>
      json(response, 200, { seen: { ...headers }, [KEY]: KEY }, { 'x-echo': `Bearer ${KEY}` })
    const { end, outputs } = await ran(asking({}, { outputs: { body: 'json', headers: 'json' } }))
    expect(end).toBe('run:completed')
    expect(JSON.stringify(outputs)).not.toContain(KEY)
    expect(outputs).toMatchObject({
      body: { seen: { authorization: 'Bearer [redacted]' } },
      headers: { 'x-echo': 'Bearer [redacted]' },
    })
    expect(logged.join('\n')).not.toContain(KEY)
    const config = await place.place.invoke('get-config', GET)
    expect(JSON.stringify(config)).not.toContain(KEY)
    expect(JSON.stringify(config)).toContain('CRM_KEY')
  })
})

describe('nothing leads anywhere else', () => {
  test.each(['..', '../..', '../../admin', '..\\..', '%2e%2e', '.', ''])(
    'an input %j in a path is refused before anything is sent',
    async (id) => {
      const { failed } = await ran(asking({}, RETRY), { id })
      expect(failed).toMatchObject({
        code: 'bad_service_request',
        reason: expect.stringMatching(/^Cannot run block "a" \(http\): /),
      })
      expect(heard).toEqual([])
    },
  )

  test.each([
    ['//evil.example', '/api/customers/%2F%2Fevil.example'],
    ['@evil.example/', '/api/customers/%40evil.example%2F'],
    ['x\r\nHost: evil.example', '/api/customers/x%0D%0AHost%3A%20evil.example'],
  ])('an input %j is one part of the path', async (id, url) => {
    expect((await ran(asking({}), { id })).end).toBe('run:completed')
    expect(heard.map((one) => one.url)).toEqual([url])
  })

  test('a line break makes no header', async () => {
    const { failed } = await ran(asking({ headers: { 'X-A': '{{inputs.id}}' }, path: '/x' }), {
      id: 'a\r\nauthorization: Bearer evil',
    })
    expect(failed).toMatchObject({ code: 'bad_service_request', reason: expect.stringContaining('header "X-A"') })
    expect(heard).toEqual([])
  })

  test.each([
    ['another server', () => `${other.url}/api/x`],
    ['out of the URL of the service', () => '/elsewhere'],
    ['out of it by dots', () => '/api/../elsewhere'],
    ['a host without scheme', () => `//127.0.0.1:${other.port}/api/`],
  ])('a redirect to %s is refused, and the key does not go there', async (_, to) => {
    answering = (_heard, response) => response.writeHead(302, { location: to() }).end()
    expect((await ran(asking({}))).failed).toMatchObject({
      code: 'service_not_allowed',
      reason: expect.stringContaining('a redirect'),
    })
    expect([heard.length, other.asked]).toEqual([1, []])
  })

  test('a redirect below the URL is followed by GET, and by nothing that changes something', async () => {
    answering = ({ url }, response) =>
      url.endsWith('/new') ? json(response, 200, { ok: true }) : response.writeHead(307, { location: '/api/new' }).end()
    expect((await ran(asking({}))).outputs).toEqual({ body: { ok: true } })
    expect((await ran(asking({ method: 'POST' }))).failed).toMatchObject({ code: 'service_invalid' })
    expect(heard.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'GET /api/customers/7',
      'GET /api/new',
      'POST /api/customers/7',
    ])
  })

  test('a service that is not private is not asked on this machine', async () => {
    expect((await ran(asking({ service: 'closed' }))).failed).toMatchObject({
      code: 'service_not_allowed',
      reason: expect.stringContaining('private: true of the service'),
    })
    expect(heard).toEqual([])
  })

  test('a gate may ask nobody for that: services allow blocks, not gates', async () => {
    const post_gates = [{ name: 'g', check: { type: 'http', url: `${server.url}/api/x` }, on_fail: 'fail' }]
    const { failed, events } = await ran(asking({}, { post_gates }))
    expect(failed.code).toBe('post_gate_failed')
    expect(JSON.stringify(events)).toContain('http_gates')
    expect(heard).toHaveLength(1)
  })
})

describe('where the place has no such thing', () => {
  test('a service nobody named is refused at the start, with the nearest name and its place', async () => {
    const { json: told } = await place.call('validate-dag', '', { dag: asking({ service: 'cmr' }) })
    expect(told).toMatchObject({
      valid: false,
      errors: [
        {
          code: 'unknown_service',
          path: 'blocks[0].deterministic.config.service',
          message: expect.stringMatching(/configured are "crm", "hasty", "open", "nokey", "closed"/),
        },
      ],
    })
    const planned = await place.call('plan-dag', '', { dag: asking({ service: 'cmr' }) })
    expect(planned).toMatchObject({ status: 400, json: { errors: [{ code: 'unknown_service' }] } })
    await expect(place.start(asking({ service: 'cmr' }))).rejects.toThrow(/unknown_service/)
  })

  test('a key that is not there fails the block, says which, and was told at the start', async () => {
    expect((await ran(asking({ service: 'nokey' }, RETRY))).failed).toMatchObject({
      code: 'service_key_missing',
      reason: expect.stringContaining('services.nokey.key.env'),
    })
    expect(heard).toEqual([])
    expect(logged.join('\n')).toMatch(
      /service \\?"nokey\\?" cannot be asked: environment variable NOBODY_SET_IT is not set/,
    )
  })
})

describe('a kept answer', () => {
  test('of a GET stands in for the request as long as the block says', async () => {
    const dag = asking({ path: '/kept/{{inputs.id}}' }, { cache: { max_age_sec: 60 } })
    const values = [await ran(dag), await ran(dag), await ran(dag, { id: 8 })].map(({ outputs }) => outputs)
    expect(values).toEqual([{ body: { ok: true } }, { body: { ok: true } }, { body: { ok: true } }])
    expect(heard.map(({ url }) => url)).toEqual(['/api/kept/7', '/api/kept/8'])
  })
})
