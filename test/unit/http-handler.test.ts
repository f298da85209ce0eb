import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { httpHandler } from '../../functions/http-handler.ts'
import { queryInt, RunParamsSchema } from '../../shared/api/route-schema.ts'
import { SCOPES } from '../../shared/auth/scopes.ts'
import { Fault } from '../../shared/errors.ts'
import { SettingsSchema } from '../../shared/settings/settings.ts'
import type { World } from '../../shared/world.ts'
import { expectLinear } from './gates/linear.ts'

const logged: unknown[] = []
// Wrappers read only the settings and the log of a World.
const world = {
  settings: SettingsSchema.parse({}),
  log: { info: () => {}, error: (message: string, facts: unknown) => logged.push({ message, facts }) },
} as unknown as World
const principal = { kind: 'user', id: 'ana', tenant: 'main', scopes: SCOPES } as const
const run_id = `run_${'0'.repeat(26)}`

const echo = httpHandler({
  name: 'echo',
  schema: {
    summary: 'Says what it understood',
    params: RunParamsSchema,
    query: z.strictObject({ limit: queryInt(1, 500, 50) }),
    body: z.strictObject({
      say: z.string().optional(),
      options: z.strictObject({ max_parallel: z.int().optional() }).optional(),
    }),
    answer: z.unknown(),
  },
  run: ({ params, query, body, declared, principal: caller, idempotencyKey }) => {
    if (body.say === 'fault') throw new Fault('Conflict', 'busy', 'Cannot say it: somebody speaks.')
    if (body.say === 'bug') throw new Error('secret words')
    return { json: { params, query, body, declared, caller: caller.id, key: idempotencyKey ?? null } }
  },
})

interface Answer {
  readonly statusCode: number
  readonly headers: Record<string, string>
  readonly body: string
}

async function send(change: Record<string, unknown> = {}, context: Record<string, unknown> = { principal }) {
  const event = {
    httpMethod: 'POST',
    path: '/echo',
    pathParameters: { run_id },
    queryStringParameters: null,
    headers: { 'Content-Type': 'application/json' },
    body: '{}',
    isBase64Encoded: false,
    ...change,
  }
  const answer = (await echo(event, { world, ...context })) as Answer
  return { ...answer, json: JSON.parse(answer.body) as Record<string, unknown> }
}

describe('httpHandler()', () => {
  it('gives the route its parsed parts and answers JSON that no browser runs', async () => {
    const headers = {
      'Content-Type': 'application/json; charset=utf-8',
      'X-Sluice-Client': 'cli --yes',
      'Idempotency-Key': 'k1',
    }
    const answer = await send({ headers, queryStringParameters: { limit: '7' }, body: '{"say":"hello"}' })
    expect(answer.statusCode).toBe(200)
    expect(answer.json).toEqual({
      params: { run_id },
      query: { limit: 7 },
      body: { say: 'hello' },
      declared: { client: 'cli', yes: true },
      caller: 'ana',
      key: 'k1',
    })
    expect(answer.headers).toMatchObject({ 'content-type': 'application/json', 'x-content-type-options': 'nosniff' })
    expect(answer.headers['content-security-policy']).toContain("default-src 'none'")
  })

  it('takes no body for an empty one, whatever its type', async () => {
    expect((await send({ body: null, headers: {} })).json).toMatchObject({ body: {}, query: { limit: 50 } })
  })

  it('takes a body in base64, as API Gateway sends bytes', async () => {
    const body = Buffer.from('{"say":"ü"}').toString('base64')
    expect((await send({ body, isBase64Encoded: true })).json).toMatchObject({ body: { say: 'ü' } })
  })

  it.each([
    ['no principal', {}, 401, 'unauthenticated', {}],
    ['another content type', { headers: { 'content-type': 'text/plain' } }, 415, 'unsupported_media_type', undefined],
    ['no content type', { headers: {} }, 415, 'unsupported_media_type', undefined],
    [
      'another charset',
      { headers: { 'content-type': 'application/json; charset=latin1' } },
      415,
      'unsupported_media_type',
      undefined,
    ],
    ['more than 1 MiB', { body: `{"say":"${'x'.repeat(1_048_577)}"}` }, 413, 'body_too_large', undefined],
    ['bytes that are no UTF-8', { body: '/w==', isBase64Encoded: true }, 400, 'not_utf8', undefined],
    ['broken JSON', { body: '{"say":' }, 400, 'json_syntax', undefined],
    ['a duplicate key', { body: '{"say":"a","say":"b"}' }, 400, 'duplicate_key', undefined],
    ['__proto__', { body: '{"__proto__":{"say":"a"}}' }, 400, 'forbidden_key', undefined],
    ['a body of another kind', { body: '[]' }, 400, 'bad_body', undefined],
    ['a wrong type', { body: '{"say":1}' }, 400, 'bad_body', undefined],
    ['an unknown query key', { queryStringParameters: { page: '1' } }, 400, 'bad_query', undefined],
    ['a limit of zero', { queryStringParameters: { limit: '0' } }, 400, 'bad_query', undefined],
    ['a limit in words', { queryStringParameters: { limit: '1e2' } }, 400, 'bad_query', undefined],
    ['an empty limit', { queryStringParameters: { limit: '' } }, 400, 'bad_query', undefined],
    [
      'a query key twice',
      { queryStringParameters: { limit: '7' }, multiValueQueryStringParameters: { limit: ['5', '7'] } },
      400,
      'bad_query',
      undefined,
    ],
    ['something that is no run id', { pathParameters: { run_id: '../etc' } }, 404, 'unknown_run', undefined],
    [
      'a key with a space',
      { headers: { 'content-type': 'application/json', 'idempotency-key': 'a b' } },
      400,
      'bad_idempotency_key',
      undefined,
    ],
    ['no headers at all', { headers: null }, 401, 'unauthenticated', {}],
    ['a Fault of the route', { body: '{"say":"fault"}' }, 409, 'busy', undefined],
  ])('refuses %s', async (_name, change, status, code, context) => {
    const answer = await send(change, context)
    expect([answer.statusCode, answer.json.status, answer.json.code]).toEqual([status, status, code])
    expect(answer.headers['content-type']).toBe('application/problem+json')
  })

  it('names an unknown key, what was probably meant, and the run', async () => {
    const answer = await send({ body: '{"options":{"max_paralel":3}}' })
    expect(answer.json).toMatchObject({
      run_id,
      errors: [{ path: 'options.max_paralel', hint: 'did you mean "max_parallel"? allowed: max_parallel' }],
    })
  })

  it('lists at most 20 of many errors, in linear time', async () => {
    const bodyOf = (size: number) => `{${Array.from({ length: size }, (_, n) => `"k${n}":1`).join(',')}}`
    await expectLinear((size) => send({ body: bodyOf(size) }), 30_000)
    const answer = await send({ body: bodyOf(60_000) })
    expect(answer.json.errors).toHaveLength(20)
    expect(answer.body.length).toBeLessThan(10_000)
  })

  it('keeps the words of an unexpected error in the log', async () => {
    const answer = await send({ body: '{"say":"bug"}' })
    expect(answer.statusCode).toBe(500)
    expect(answer.body).not.toContain('secret')
    expect(JSON.stringify(logged)).toContain('secret words')
  })
})
