import { afterAll, beforeAll, expect, test } from 'vitest'
import { ACCOUNT } from '../emulators/aws-client.ts'
import { type Synthesized, synthesize } from '../integration/aws/synthesized.ts'
import { type Deployment, deploy } from './deploy.ts'

/** Bearer tokens on the deployed application: bundles, roles, routes and the authorizer of the templates. */
let made: Synthesized
let place: Deployment

beforeAll(async () => {
  made = await synthesize({ 'sluice:auth': 'token' })
  place = await deploy(made.out)
}, 240_000)
afterAll(async () => {
  await place?.close()
  made?.remove()
})

/** As a deployment with signed callers makes its first one. */
async function firstToken(scopes: readonly string[]): Promise<string> {
  const answer = (await place.sandboxes('create-token').invoke({
    ...{ resource: '/api/tokens', path: '/api/tokens', httpMethod: 'POST', pathParameters: null },
    ...{ queryStringParameters: null, headers: { 'content-type': 'application/json' }, isBase64Encoded: false },
    body: JSON.stringify({ name: 'first', scopes }),
    requestContext: { accountId: ACCOUNT, identity: { userArn: `arn:aws:sts::${ACCOUNT}:assumed-role/Deployer/s` } },
  })) as { readonly statusCode: number; readonly body: string }
  expect(answer.statusCode, answer.body).toBe(201)
  return JSON.parse(answer.body).token
}

async function send(method: string, path: string, token: string | undefined, body?: unknown) {
  const response = await fetch(`${place.api.url}${path}`, {
    method,
    headers: {
      'content-type': 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, type: response.headers.get('content-type'), text, json: JSON.parse(text) }
}

const DAG = {
  name: 'told',
  blocks: [
    {
      id: 'a',
      outputs: { text: { type: 'string' } },
      agent: { provider: 'local', model: 'outline', prompt: 'A plan' },
    },
  ],
}

test('a token makes others, starts a run as itself, and is asked about once in 60 seconds', async () => {
  const first = await firstToken(['admin:tokens', 'runs:read', 'runs:write'])
  const ci = await send('POST', '/api/tokens', first, { name: 'ci', scopes: ['runs:read', 'runs:write'] })
  expect(ci.status, ci.text).toBe(201)
  const before = place.api.authorizer.counts.asked
  const started = await send('POST', '/api/dag/run', ci.json.token, { dag: DAG })
  expect(started.status, started.text).toBe(201)
  const replay = () => send('GET', `/api/dag/runs/${started.json.run_id}/replay`, ci.json.token)
  await expect.poll(async () => (await replay()).json.status, { timeout: 60_000 }).toBe('completed')
  expect((await replay()).text).toContain(`"starter":"token:${ci.json.token_id}"`)
  expect((await send('GET', '/api/tokens', ci.json.token)).json).toMatchObject({ status: 403, code: 'missing_scope' })
  expect(place.api.authorizer.counts.asked - before).toBe(1)
})

test('who comes with nothing, or with what is none, reads the same as locally, and a revoked one within 60 seconds', async () => {
  const first = await firstToken(['admin:tokens', 'runs:read'])
  const { json } = await send('POST', '/api/tokens', first, { name: 'lost', scopes: ['runs:read'] })
  const asked = place.api.authorizer.counts.asked
  const nothing = await send('GET', '/api/health', undefined)
  expect(nothing).toMatchObject({ status: 401, type: 'application/problem+json', json: { code: 'unauthenticated' } })
  expect(await send('GET', '/api/health', 'slu_x')).toEqual(nothing)
  expect(place.api.authorizer.counts.asked).toBe(asked)
  expect(await send('GET', '/api/health', `slu_${'0'.repeat(16)}_${'0'.repeat(32)}`)).toEqual(nothing)
  expect(await send('GET', '/api/health', `${first.slice(0, -1)}${first.endsWith('0') ? '1' : '0'}`)).toEqual(nothing)
  expect((await send('GET', '/api/health', json.token)).status).toBe(200)
  expect((await send('DELETE', `/api/tokens/${json.token_id}`, first)).json).toMatchObject({ state: 'revoked' })
  place.api.authorizer.forget()
  expect(await send('GET', '/api/health', json.token)).toEqual(nothing)
})

test('no function was refused what it needs, nor did any fail', () => {
  expect(place.denied).toEqual([])
  expect(place.api.errors).toEqual([])
})
