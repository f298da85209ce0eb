import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { callbackToken } from '../../shared/runs/callback-address.ts'
import { EVENT_LIMITS } from '../../shared/runs/outside-event.ts'
import { openTestPlace, type TestPlace } from './test-place.ts'

/** Events and answers to callbacks that were made to do harm. */
let place: TestPlace

beforeAll(async () => {
  place = await openTestPlace({}, { public_url: 'https://place.example' })
})
afterAll(() => place.close())

async function post(name: string, body: string | Uint8Array, params: object | null = null, type = 'application/json') {
  const answer = await place.place.invoke(name, {
    httpMethod: 'POST',
    path: '/',
    pathParameters: params,
    queryStringParameters: null,
    headers: { 'content-type': type },
    body: Buffer.from(body).toString('base64'),
    isBase64Encoded: true,
  })
  const { statusCode, body: text } = answer as { statusCode: number; body: string }
  return [statusCode, JSON.parse(text).code]
}

const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
const event = (payload: string, more = '') => `{"name":"a.b"${more},"payload":${payload}}`

describe('an event', () => {
  test.each([
    ['as long as it may be', event(JSON.stringify('x'.repeat(EVENT_LIMITS.payload_bytes - 2))), 200],
    ['a byte longer', event(JSON.stringify('x'.repeat(EVENT_LIMITS.payload_bytes - 1))), 413],
    ['that is deep', event(deep(5_000)), 400],
    ['with a key twice', event('{"a":1,"a":2}'), 400],
    ['with a number no double holds', event('{"a":12345678901234567890123}'), 400],
    ['with the member __proto__', event('{"__proto__":{"admin":true},"constructor":1}'), 400],
    ['that is cut off', event('{"a":').slice(0, -1), 400],
    ['that is a list', '[]', 400],
    ['without a name', '{"payload":{}}', 400],
    ['with a name that goes up', '{"name":"../x","payload":{}}', 400],
    ['with a name of the table', '{"name":"a#E#b","payload":{}}', 400],
    ['with control characters in its key', event('{}', ',"key":"a\\u0000b"'), 400],
    ['with an endless key', event('{}', `,"key":"${'k'.repeat(EVENT_LIMITS.key_characters + 1)}"`), 400],
    ['with an endless id', event('{}', `,"id":"${'i'.repeat(10_000)}"`), 400],
    ['that is kept for ever', event('{}', ',"expires_in":1e300'), 400],
    ['that expires before it comes', event('{}', ',"expires_in":-1'), 400],
    ['of another tenant', event('{}', ',"tenant":"other"'), 400],
  ])('%s', async (_what, body, status) => {
    const [seen] = await post('send-event', body)
    expect(seen).toBe(status)
  })

  test('that is no UTF-8', async () => {
    expect((await post('send-event', Uint8Array.of(0x7b, 0xff, 0xfe, 0x7d)))[0]).toBe(400)
  })

  test('among so many others that do not match is found as long as it is among the newest', async () => {
    await post('send-event', '{"name":"busy","payload":{"n":-1}}')
    for (let i = 0; i < 250; i += 1) await post('send-event', `{"name":"busy","payload":{"n":${i}}}`)
    const run = await place.start(
      '{name: t, blocks: [{id: w, mode: wait, wait: {event: {name: busy, match: "event.payload.n < 0"}}, outputs: {n: number}}]}',
    )
    expect((await place.ended(run)).at(-1)?.type).toBe('run:completed')
  })
})

describe('an answer to a callback', () => {
  const dag = '{name: t, blocks: [{id: w, mode: wait, wait: {callback: true}, outputs: {n: number}}]}'

  async function tokenOf(run_id: string): Promise<string> {
    const key = await place.place.world.waits.signingKey('main')
    return callbackToken(key, { tenant: 'main', run_id, block: 0, epoch: 0 })
  }

  test('that does not fit leaves the address good; one answer of many at once is taken', async () => {
    const run = await place.start(dag)
    const token = await tokenOf(run)
    const answer = (body: string | Uint8Array, type?: string) => post('answer-callback', body, { token }, type)
    expect(await answer('{"n":"x"}')).toEqual([422, 'callback_not_fitting'])
    expect((await answer('[1]'))[0]).toBe(422)
    expect((await answer(deep(5_000)))[0]).toBe(400)
    expect((await answer('{"n":1,"n":2}'))[0]).toBe(400)
    expect((await answer(Uint8Array.of(0xff, 0xfe)))[0]).toBe(400)
    expect((await answer(`{"n":1,"x":"${'x'.repeat(EVENT_LIMITS.payload_bytes)}"}`))[0]).toBe(413)
    const all = await Promise.all(Array.from({ length: 8 }, (_, n) => answer(`{"n":${n}}`)))
    expect(all.filter(([status]) => status === 200)).toHaveLength(1)
    expect(all.filter(([status, code]) => status === 409 && code === 'callback_used')).toHaveLength(7)
    const events = await place.ended(run)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(events.filter(({ type }) => type === 'block:woken')).toHaveLength(1)
  })
})
