import { afterAll, beforeAll, expect, test } from 'vitest'
import { startHttpProvider } from '../../emulators/http-provider-server.ts'
import { json, type ProviderServer } from '../../emulators/provider-server.ts'
import { asker, PORTS } from './ask.ts'

/** A server of one's own: the contract of docs/providers.md. */
let server: ProviderServer
beforeAll(async () => {
  server = await startHttpProvider(() => ({ text: 'fine' }))
})
afterAll(() => server.close())

const own = () => asker({ type: 'http', url: `${server.url}/models/answer?team=a` })

test('is sent everything there is, at the very url', async () => {
  const params = { temperature: 0 }
  const inputs = { goal: 'g', n: [1, { a: null }] }
  await own().ask({ system: 'S', params, inputs, output_schema: PORTS, feedback: ['missing port title'] })
  const { path, body } = server.asked.at(-1) ?? {}
  const feedback = ['missing port title']
  expect([path, body]).toEqual([
    '/models/answer?team=a',
    { system: 'S', prompt: 'Plan it.', inputs, model: 'm-1', params, output_schema: PORTS, feedback },
  ])
})

test('may answer outputs, and say what they cost', async () => {
  const outputs = { title: 'a', steps: 2 }
  server.next(json(200, { outputs, tokens_in: 5, tokens_out: 3, usd: 0.25, model: 'big', finish_reason: 'length' }))
  expect(await own().ask()).toEqual({
    text: JSON.stringify(outputs),
    tokens_in: 5,
    tokens_out: 3,
    usd: 0.25,
    model: 'big',
    finish_reason: 'length',
  })
})

test('a text alone is measured by its length, and its price is unknown', async () => {
  server.next(json(200, { text: 'four chars', usd: -1, tokens_in: 'x' }))
  const note = expect.stringContaining('estimated')
  expect(await own().ask()).toEqual({
    text: 'four chars',
    tokens_in: 2,
    tokens_out: 3,
    note,
    model: 'm-1',
    finish_reason: 'stop',
  })
})

test('neither text nor outputs is invalid, and says what came instead', async () => {
  server.next(json(200, { answer: 'fine', outputs: [1] }))
  expect(await own().fault()).toMatchObject({
    code: 'provider_invalid',
    message: expect.stringContaining('answer, outputs'),
  })
})

test('a server that is not there is unavailable, and the reason is told', async () => {
  const gone = await startHttpProvider(() => ({}))
  await gone.close()
  const unavailable = (words: RegExp) => ({ name: 'Unavailable', message: expect.stringMatching(words) })
  expect(await asker({ type: 'http', url: gone.url }).fault()).toMatchObject(
    unavailable(/cannot be reached .*ECONNREFUSED/),
  )
  // fetch keeps ports of other protocols closed.
  expect(await asker({ type: 'http', url: 'http://127.0.0.1:6000/' }).fault()).toMatchObject(unavailable(/bad port/))
})
