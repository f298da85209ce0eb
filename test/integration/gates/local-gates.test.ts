import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Json } from '../../../shared/text/json.ts'
import { openTestPlace, type TestPlace } from '../test-place.ts'
import { type LocalServer, serve } from './guarded-servers.ts'

/** Whole runs of the local place whose gates ask a server of this machine and run commands: the operator said so. */
let server: LocalServer
let place: TestPlace
let closed: TestPlace
const told: string[] = []

beforeAll(async () => {
  server = await serve((request, response) => {
    if (request.method !== 'POST') return response.writeHead(request.url === '/up' ? 200 : 503).end()
    let text = ''
    request.on('data', (chunk) => (text += chunk))
    request.on('end', () => {
      told.push(text)
      const pass = text.includes('ship it')
      response.end(JSON.stringify({ pass, reason: pass ? 'as agreed' : 'must say ship it' }))
    })
    return undefined
  })
  const http_gates = { ports: [server.port], loopback: true }
  place = await openTestPlace({}, { http_gates, shell_gates: { allow: [['sh', '-c', 'exit 0'], ['false']] } })
  closed = await openTestPlace()
})
afterAll(() => Promise.all([place.close(), closed.close(), server.close()]))

const SHELL = { type: 'shell', command: 'exit 0' }
const dagWith = (checks: readonly Json[], on_fail = 'fail', more: object = {}) => ({
  blocks: [
    {
      id: 'a',
      mode: 'deterministic',
      deterministic: { handler: 'transform', config: { expression: '"ship it"' } },
      outputs: { text: 'string' },
      post_gates: checks.map((check, i) => ({ name: `g${i}`, check, on_fail })),
      ...more,
    },
  ],
})

/** Status and reason of every gate, and how the run ended. */
async function ran(where: TestPlace, dag: object) {
  const events = await where.ended(await where.start(dag))
  const gates = events.filter(({ type }) => type === 'block:gate').map(({ data }) => data)
  return { gates, end: events.at(-1)?.type }
}

test('http, webhook and shell pass where the operator allows what they do', async () => {
  const checks = [
    { type: 'http', url: `${server.url}/up` },
    { type: 'http', url: `${server.url}/down`, method: 'HEAD', expect_status: 503 },
    { type: 'webhook', url: `${server.url}/judge`, ports: ['text'] },
    SHELL,
    { type: 'shell', command: ['false'], not: true },
  ]
  const { gates, end } = await ran(place, dagWith(checks))
  expect(gates.map((gate) => ('status' in gate ? gate.status : ''))).toEqual(checks.map(() => 'passed'))
  expect(end).toBe('run:completed')
  expect(told.splice(0)).toEqual(['{"v":1,"ports":{"text":"ship it"}}'])
})

test('a server that answers otherwise, and a command that is not listed, fail the block with the reason', async () => {
  const checks = [
    { type: 'http', url: `${server.url}/down` },
    { type: 'shell', command: 'exit 1' },
  ]
  const { gates, end } = await ran(place, dagWith(checks))
  expect(gates).toMatchObject([
    { status: 'failed', reason: expect.stringContaining('must answer 200, it answered 503'), facts: { status: 503 } },
    { status: 'error', reason: expect.stringContaining('shell_gates.allow') },
  ])
  expect(end).toBe('run:failed')
})

test('a pre-gate of a block that asks a person is judged before anybody is asked', async () => {
  const check = { type: 'http', url: `${server.url}/down` }
  const dag = dagWith([], 'fail', { approval: true, pre_gates: [{ name: 'g', check }] })
  const { gates, end } = await ran(place, dag)
  expect([gates, end]).toMatchObject([[{ status: 'failed', phase: 'pre' }], 'run:failed'])
})

test('where the operator said nothing neither this machine nor a command is touched, and the reason says how', async () => {
  const asked = server.asked.length
  const checks = [
    { type: 'http', url: `${server.url}/up` },
    { type: 'http', url: 'http://127.0.0.1/up' },
    { type: 'webhook', url: 'http://169.254.169.254/', ports: ['text'] },
    SHELL,
  ]
  const { gates } = await ran(closed, dagWith(checks))
  expect(gates).toMatchObject([
    { status: 'failed', reason: expect.stringContaining('http_gates.ports') },
    { status: 'failed', reason: expect.stringContaining('http_gates.loopback') },
    { status: 'error', reason: expect.stringContaining('metadata') },
    { status: 'error', reason: expect.stringMatching(/shell gates are off here.*shell_gates\.allow/) },
  ])
  expect(server.asked.length).toBe(asked)
})

test('the API of the place itself is refused, also where loopback is on', async () => {
  const own = await openTestPlace({}, { port: server.port, http_gates: { ports: [server.port], loopback: true } })
  const { gates } = await ran(own, dagWith([{ type: 'http', url: `${server.url}/up` }]))
  expect(gates).toMatchObject([{ status: 'failed', reason: expect.stringContaining('API of this place itself') }])
  await own.close()
})

test('validate warns of commands the place does not run, and of no others', async () => {
  const dag = dagWith([SHELL, { any_of: [{ type: 'shell', command: 'exit 7' }, SHELL] }])
  const warned = await place.call('validate-dag', '', { dag })
  expect(warned.json).toMatchObject({
    valid: true,
    warnings: [{ code: 'gate_cannot_run', path: 'blocks[0].post_gates[1].check' }],
  })
  const all = await closed.call('validate-dag', '', { dag })
  expect(all.json.warnings).toHaveLength(2 + 1)
})
