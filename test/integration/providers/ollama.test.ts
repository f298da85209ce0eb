import { afterAll, beforeAll, expect, test } from 'vitest'
import { chatLines, chats, startOllama } from '../../emulators/ollama-server.ts'
import { json, type ProviderServer, pieces } from '../../emulators/provider-server.ts'
import { asker, PORTS } from './ask.ts'

/** What is special about Ollama; what every provider promises is in test/conformance/provider-suite.ts. */
let server: ProviderServer
beforeAll(async () => {
  server = await startOllama(() => 'fine')
})
afterAll(() => server.close())

const own = () => asker({ type: 'ollama', url: server.url, timeout_ms: 60_000 })
const last = () => server.asked.at(-1)

test('is sent messages, its options, and the members that stand beside them', async () => {
  await own().ask({ system: 'Be brief.', params: { temperature: 0, max_tokens: 50, think: false, keep_alive: '5m' } })
  expect([last()?.path, last()?.body]).toEqual([
    '/api/chat',
    {
      model: 'm-1',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Plan it.' },
      ],
      stream: true,
      think: false,
      keep_alive: '5m',
      options: { num_predict: 50, temperature: 0 },
    },
  ])
})

test('a schema is its format; a server that knows none is asked for JSON, and remembered', async () => {
  const { ask } = own()
  server.next(
    json(400, { error: 'json: cannot unmarshal object into Go struct field ChatRequest.format of type string' }),
  )
  await ask({ output_schema: PORTS })
  expect(server.asked.slice(-2).map(({ body }) => body.format)).toEqual([
    expect.objectContaining({ type: 'object', required: ['title', 'steps'] }),
    'json',
  ])
  await ask({ output_schema: PORTS })
  expect(last()?.body.format).toBe('json')
})

test('an answer in pieces that cut characters and lines is whole; on one’s own machine it costs nothing', async () => {
  server.next(chats('Grüße 🌊\n"zurück"', { model: 'm-1:latest', done_reason: 'length' }))
  const counted = { tokens_in: 21, tokens_out: 9, usd: 0 }
  expect(await own().ask()).toEqual({
    text: 'Grüße 🌊\n"zurück"',
    ...counted,
    model: 'm-1:latest',
    finish_reason: 'length',
  })
})

test('a prompt from its cache is not counted: it is estimated', async () => {
  server.next(chats('fine', { prompt_eval_count: undefined }))
  expect(await own().ask()).toMatchObject({ tokens_in: 2, tokens_out: 9, note: expect.stringContaining('estimated') })
})

test.each([
  [
    'a failure after the first token',
    `${chatLines('ab').split('\n')[0]}\n{"error":"out of memory"}\n`,
    'provider_unavailable',
    /out of memory/,
  ],
  [
    'an end before the last line',
    `${chatLines('abc').split('\n').slice(0, 2).join('\n')}\n`,
    'provider_unavailable',
    /broke off/,
  ],
  ['a tool call', chatLines('', { message: { tool_calls: [{}] } }), 'provider_invalid', /calls a tool/],
  ['another API', '{"choices":[]}\n', 'provider_invalid', /without \/api or \/v1/],
])('%s is a typed failure', async (_, text, code, words) => {
  server.next(pieces('application/x-ndjson', text))
  const fault = await own().fault()
  expect([fault.code, fault.message]).toEqual([code, expect.stringMatching(words)])
})

test('a model nobody pulled is refused by name', async () => {
  server.next(json(404, { error: 'model "m-1" not found, try pulling it first' }))
  expect(await own().fault()).toMatchObject({
    code: 'provider_refused',
    message: expect.stringContaining('try pulling'),
  })
})
