import { afterEach, expect, test } from 'vitest'
import { signMessage } from '../../../shared/triggers/verify-message.ts'
import { openTriggerPlace, type TriggerPlace } from './trigger-place.ts'

/** Messages of senders without a login, to a trigger of a document in a local place. */
let place: TriggerPlace
afterEach(() => place.close())

const NOW = '2026-06-01T12:00:00.000Z'
const SECRET = 'a shared secret'
const plain = { algorithm: 'sha256', encoding: 'hex', prefix: '' } as const
const address = { document: 'tickets', trigger: 'from-crm' }

const says = (webhook: string) => `
name: tickets
inputs: { ticket: { type: json }, from: { type: string, default: nobody } }
blocks:
  - { id: a, mode: deterministic, deterministic: { handler: transform, config: { expression: '1' } }, outputs: { n: number } }
triggers:
  - { name: from-crm, webhook: ${webhook}, inputs: { from: crm } }
  - { name: hourly, schedule: { cron: "0 * * * *" }, inputs: { ticket: 0 } }
`
const HMAC = 'verify: { hmac: { header: x-signature, secret: crm_hook } }'

async function open(webhook: string): Promise<void> {
  const keys = new Map([['CRM_HOOK', SECRET]])
  const settings = { triggers: { secrets: { crm_hook: { env: 'CRM_HOOK' } } } }
  place = await openTriggerPlace(NOW, settings, { keys })
  place.write('tickets', says(webhook))
}

const post = (
  body: string,
  headers: Readonly<Record<string, string>> = {},
  to: Readonly<Record<string, string>> = address,
) => place.route('take-webhook', to, body, { headers: { 'content-type': 'application/json', ...headers } })
const signed = (body: string, secret = SECRET, more: Readonly<Record<string, string>> = {}) =>
  post(body, { 'x-signature': signMessage(plain, secret, Buffer.from(body)), ...more })
const contexts = async () => {
  await place.look()
  return (await place.runs()).map(({ context }) => context)
}

test('a signed message starts one run, with what its map says; the same bytes again are the same firing', async () => {
  await open(`{ ${HMAC}, map: { ticket: body.ticket } }`)
  const first = await signed('{"ticket":{"id":7}}')
  expect(first).toMatchObject({ status: 202, json: { status: 'taken', firing: expect.stringMatching(/^message:/) } })
  expect(await signed('{"ticket":{"id":7}}')).toEqual({ ...first, json: { ...first.json, status: 'known' } })
  await Promise.all(Array.from({ length: 5 }, () => signed('{"ticket":8}')))
  expect(await contexts()).toEqual(
    expect.arrayContaining([
      { ticket: { id: 7 }, from: 'crm' },
      { ticket: 8, from: 'crm' },
    ]),
  )
  const runs = await place.runs()
  expect(runs).toHaveLength(2)
  expect(new Set(runs.map(({ starter }) => starter))).toEqual(new Set(['trigger:from-crm']))
  expect(runs.map(({ run_id }) => run_id)).toContain((first.json as { run_id: string }).run_id)
})

test('what dedupe says makes messages the same', async () => {
  await open(`{ ${HMAC}, dedupe: body.id, map: { ticket: body.n } }`)
  expect(await signed('{"id":"a","n":1}')).toMatchObject({ status: 202, json: { status: 'taken', firing: 'key:a' } })
  expect(await signed('{"id":"a","n":2}')).toMatchObject({ status: 202, json: { status: 'known', firing: 'key:a' } })
  expect(await signed('{"id":"b","n":3}')).toMatchObject({ json: { status: 'taken' } })
  expect(await signed('{"n":3}')).toMatchObject({ status: 422, json: { code: 'dedupe_failed' } })
  expect(await contexts()).toEqual(
    expect.arrayContaining([
      { ticket: 1, from: 'crm' },
      { ticket: 3, from: 'crm' },
    ]),
  )
  expect(await place.runs()).toHaveLength(2)
})

test('whoever cannot prove himself reads one answer, whatever is wrong, and nothing starts', async () => {
  await open(`{ ${HMAC}, map: { ticket: body } }`)
  const answers = [
    await post('{"n":1}'),
    await signed('{"n":1}', 'another secret'),
    await post('{"n":2}', { 'x-signature': signMessage(plain, SECRET, Buffer.from('{"n":1}')) }),
    await post('{"n":1}', { 'x-signature': 'x' }),
    await place.route('take-webhook', { document: 'tickets', trigger: 'nobody' }, '{"n":1}'),
    await place.route('take-webhook', { document: 'nobody', trigger: 'from-crm' }, '{"n":1}'),
    await place.route('take-webhook', { document: 'tickets', trigger: 'hourly' }, '{"n":1}'),
  ]
  expect(new Set(answers.map(({ status, json }) => `${status} ${JSON.stringify(json)}`)).size).toBe(1)
  expect(answers[0]).toMatchObject({ status: 401, json: { code: 'not_verified' } })
  expect(await contexts()).toEqual([])
})

test('a signed time: the window is kept, and a message that is sent again inside it is the same firing', async () => {
  await open(
    `{ verify: { hmac: { header: X-Signature, secret: crm_hook, prefix: "v1=", timestamp: { header: X-Time, window_sec: 60 } } }, map: { ticket: body.n } }`,
  )
  const at = (offset: number, n: number) => {
    const time = String(Date.parse(NOW) / 1_000 + offset)
    const body = JSON.stringify({ n })
    const signature = signMessage({ ...plain, prefix: 'v1=' }, SECRET, Buffer.from(body), time)
    return post(body, { 'x-signature': signature, 'x-time': time })
  }
  expect(await at(-60, 1)).toMatchObject({ status: 202, json: { status: 'taken' } })
  expect(await at(-60, 1)).toMatchObject({ status: 202, json: { status: 'known' } })
  // The same bytes at another time are another message.
  expect(await at(-59, 1)).toMatchObject({ status: 202, json: { status: 'taken' } })
  expect(await at(-61, 2)).toMatchObject({ status: 401 })
  expect(await at(61, 2)).toMatchObject({ status: 401 })
  expect(await contexts()).toHaveLength(2)
})

test('caps: bytes of a message, messages in a minute; others do not use them up', async () => {
  await open(`{ ${HMAC}, max_body_bytes: 40, max_per_minute: 2, map: { ticket: body.n } }`)
  const long = JSON.stringify({ n: 'x'.repeat(40) })
  expect(await signed(long)).toMatchObject({ status: 413, json: { code: 'body_too_large', facts: { max_bytes: 40 } } })
  expect(await post('x'.repeat(262_145))).toMatchObject({ status: 413 })
  for (let i = 0; i < 5; i += 1) expect(await signed('{"n":0}', 'another')).toMatchObject({ status: 401 })
  expect([(await signed('{"n":1}')).status, (await signed('{"n":2}')).status]).toEqual([202, 202])
  expect(await signed('{"n":3}')).toMatchObject({ status: 429, json: { code: 'too_many_messages' } })
  place.time.set('2026-06-01T12:01:00Z')
  expect(await signed('{"n":3}')).toMatchObject({ status: 202 })
})

test('what cannot be mapped is refused and seen; with a better document the same message is taken', async () => {
  await open(`{ ${HMAC}, dedupe: body.id, map: { ticket: "$number(body.n)" } }`)
  const body = '{"id":"a","n":"seven"}'
  expect(await signed(body)).toMatchObject({ status: 422, json: { code: 'trigger_expression_failed' } })
  const shown = await place.route('get-trigger', address, undefined, { httpMethod: 'GET' })
  expect(shown).toMatchObject({ json: { trigger: { failures: 1, last: { state: 'failed', id: 'refused:key:a' } } } })
  place.write('tickets', says(`{ ${HMAC}, dedupe: body.id, map: { ticket: body.n } }`))
  expect(await signed(body)).toMatchObject({ status: 202, json: { status: 'taken' } })
  expect(await contexts()).toEqual([{ ticket: 'seven', from: 'crm' }])
})

test('expressions see headers and query, but not what proves the sender; text bodies are texts', async () => {
  await open(`{ ${HMAC}, map: { ticket: "{'h': headers, 'q': query, 'b': body}" } }`)
  const body = 'plain words'
  const headers = {
    'Content-Type': 'text/plain',
    'X-Signature': signMessage(plain, SECRET, Buffer.from(body)),
    Authorization: 'Bearer x',
    Cookie: 'a=b',
    'X-Kind': 'order',
  }
  const answer = await place.route('take-webhook', address, body, { headers, queryStringParameters: { a: '1' } })
  expect(answer).toMatchObject({ status: 202 })
  expect(await contexts()).toEqual([
    { ticket: { h: { 'content-type': 'text/plain', 'x-kind': 'order' }, q: { a: '1' }, b: body }, from: 'crm' },
  ])
})

test('a paused trigger asks its sender to come again, and so does a place without the secret', async () => {
  await open(`{ ${HMAC}, map: { ticket: body.n } }`)
  await place.route('change-trigger', address, { paused: true })
  expect(await signed('{"n":1}')).toMatchObject({ status: 503, json: { code: 'trigger_paused' } })
  await place.route('change-trigger', address, { paused: false })
  expect(await signed('{"n":1}')).toMatchObject({ status: 202, json: { status: 'taken' } })
  await place.test.reopen({ sweep_ms: 0, clock: place.time.clock, keys: new Map() })
  expect(await signed('{"n":2}')).toMatchObject({ status: 503, json: { code: 'try_again' } })
})

test('a sample is tried with nothing started; by hand a message starts a run', async () => {
  await open(`{ ${HMAC}, dedupe: body.id, map: { ticket: body.n } }`)
  expect(await place.route('try-trigger', address, { body: { id: 'a', n: 4 } })).toMatchObject({
    json: { ok: true, id: 'key:a', known: false, inputs: { ticket: 4, from: 'crm' } },
  })
  expect(await place.route('try-trigger', address, { body: {} })).toMatchObject({
    json: { ok: false, problems: [{ code: 'dedupe_failed' }] },
  })
  await signed('{"id":"a","n":4}')
  expect(await place.route('try-trigger', address, { body: { id: 'a', n: 4 } })).toMatchObject({
    json: { ok: false, known: true },
  })
  expect(await place.route('fire-trigger', address, { body: { id: 'a', n: 5 } })).toMatchObject({ status: 202 })
  expect(await contexts()).toEqual(expect.arrayContaining([{ ticket: 5, from: 'crm' }]))
  expect(await place.runs()).toHaveLength(2)
})

test('what was taken is started though the place died before', async () => {
  await open(`{ ${HMAC}, map: { ticket: body.n } }`)
  const first = await signed('{"n":1}')
  await place.test.kill({ sweep_ms: 0, clock: place.time.clock, keys: new Map([['CRM_HOOK', SECRET]]) })
  expect(await contexts()).toEqual([{ ticket: 1, from: 'crm' }])
  expect(await signed('{"n":1}')).toEqual({ ...first, json: { ...first.json, status: 'known' } })
  expect(await contexts()).toHaveLength(1)
})

test('a message that came before, and whose start has failed, is told no run', async () => {
  await open(`{ ${HMAC}, map: { ticket: body } }`)
  const { runs } = place.test.place.world
  await runs.holdStarts('main', { by: 'user:ana', at: NOW })
  const first = await signed('{"n":1}')
  expect(first.json).toHaveProperty('run_id')
  await place.look()
  place.write('tickets', says(`{ ${HMAC}, map: { ticket: body } }`).replace('type: json', 'type: string'))
  await runs.releaseStarts('main')
  place.time.set('2026-06-01T12:01:00Z')
  await place.look()
  expect(await signed('{"n":1}')).toEqual({ status: 202, json: { status: 'failed', firing: first.json.firing } })
  expect(await place.runs()).toEqual([])
})
