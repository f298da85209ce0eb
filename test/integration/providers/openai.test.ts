import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { completes, completion, startOpenai, streamOf } from '../../emulators/openai-server.ts'
import { json, type ProviderServer, pieces, raw } from '../../emulators/provider-server.ts'
import { asker, PORTS } from './ask.ts'

/** What is special about chat completions; what every provider promises is in test/conformance/provider-suite.ts. */
let server: ProviderServer
beforeAll(async () => {
  server = await startOpenai(() => 'fine')
})
afterAll(() => server.close())

const own = (path = '/v1') => asker({ type: 'openai-compatible', url: `${server.url}${path}`, timeout_ms: 60_000 })
const last = () => server.asked.at(-1)
const choice = (message: object, finish_reason = 'stop') => ({ choices: [{ index: 0, message, finish_reason }] })

describe('what is sent', () => {
  test.each([
    ['/v1', '/v1/chat/completions'],
    ['/v1/', '/v1/chat/completions'],
    ['/openai/chat/completions?api-version=1', '/openai/chat/completions?api-version=1'],
    ['/x?api-version=1', '/x/chat/completions?api-version=1'],
  ])('url %s is asked at %s', async (url, path) => {
    await own(url).ask()
    expect(last()?.path).toBe(path)
  })

  test('a text: messages, parameters, stream with usage, no format', async () => {
    await own().ask({ system: 'Be brief.', params: { temperature: 0, seed: 7 } })
    expect(last()?.body).toEqual({
      temperature: 0,
      seed: 7,
      model: 'm-1',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Plan it.' },
      ],
      stream: true,
      stream_options: { include_usage: true },
    })
    expect(last()?.headers.authorization).toBeUndefined()
  })

  test('an object: its schema, strict where every port has a type, and the same in words', async () => {
    await own().ask({ output_schema: PORTS })
    const body = (last()?.body ?? {}) as { response_format?: object; messages?: { content: string }[] }
    const { response_format, messages = [] } = body
    const properties = { title: { type: 'string', description: 'Five words' }, steps: { type: ['number', 'null'] } }
    const schema = { type: 'object', properties, required: ['title', 'steps'], additionalProperties: false }
    expect(response_format).toEqual({ type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } })
    expect(messages[0]?.content).toMatch(
      /one JSON object.*"title" \(string\): Five words.*"steps" \(number, or null\)/s,
    )
    await own().ask({ output_schema: { data: { type: 'json', required: true } } })
    expect(last()?.body.response_format).toMatchObject({ json_schema: { strict: false } })
  })

  test('members the adapter writes are refused as parameters, and nothing is sent', async () => {
    const before = server.asked.length
    const fault = await own().fault({ params: { n: 3, messages: [], top_p: 1 } })
    expect([fault.code, fault.message]).toEqual(['provider_invalid', expect.stringContaining('messages, n')])
    expect(server.asked).toHaveLength(before)
  })
})

describe('a server that does not know a feature', () => {
  const refuses = (word: string) => json(400, { error: { message: `Unrecognized request argument: ${word}` } })

  test('is asked again without it, under another key, and not asked for it a second time', async () => {
    const { ask } = own()
    server.next(refuses('stream_options'), refuses('response_format.json_schema'), refuses('response_format'))
    const before = server.asked.length
    expect((await ask({ output_schema: PORTS })).text).toBe('fine')
    const sent = server.asked.slice(before)
    const formatOf = ({ body }: (typeof sent)[number]) => (body.response_format as { type: string } | undefined)?.type
    expect(sent.map(formatOf)).toEqual(['json_schema', 'json_schema', 'json_object', undefined])
    expect(sent.map(({ body }) => body.stream_options !== undefined)).toEqual([true, false, false, false])
    expect(new Set(sent.map(({ headers }) => headers['idempotency-key'])).size).toBe(4)
    await ask({ output_schema: PORTS })
    expect(last()?.body).not.toHaveProperty('response_format')
    expect(server.asked).toHaveLength(before + 5)
  })

  test('that cannot stream is asked for a whole answer', async () => {
    server.next(json(422, { detail: 'stream is not supported' }))
    expect(await own().ask()).toMatchObject({ text: 'fine', tokens_in: 21, tokens_out: 9 })
    expect(last()?.body.stream).toBe(false)
  })

  test('that refuses for another reason is not asked again', async () => {
    const before = server.asked.length
    server.next(json(400, { error: { message: 'maximum context length is 8192 tokens' } }))
    const fault = await own().fault({ output_schema: PORTS })
    expect([fault.code, fault.message]).toEqual(['provider_refused', expect.stringContaining('context length')])
    expect(server.asked).toHaveLength(before + 1)
  })
})

describe('an answer', () => {
  test('streamed in pieces that cut characters and lines is whole', async () => {
    server.next(completes('Grüße an 世界 🌊\nund "zurück"'))
    const answer = await own().ask()
    expect(answer).toEqual({
      text: 'Grüße an 世界 🌊\nund "zurück"',
      tokens_in: 21,
      tokens_out: 9,
      model: 'm-1',
      finish_reason: 'stop',
      id: 'chatcmpl-1',
    })
  })

  test('is read the same wherever its bytes are cut, and however its lines end', async () => {
    const words = fc.string({ unit: 'grapheme', maxLength: 20 })
    const { ask } = own()
    const law = fc.asyncProperty(
      words,
      fc.integer({ min: 1, max: 90 }),
      fc.constantFrom('\n\n', '\r\n\r\n'),
      async (text, bytes, end) => {
        server.next(pieces('text/event-stream', streamOf(text, 'm', end), { bytes }))
        expect(await ask()).toMatchObject({ text, finish_reason: 'stop', model: 'm', tokens_in: 21, tokens_out: 9 })
      },
    )
    await fc.assert(law, { numRuns: 15 })
  })

  test('that ends early, anywhere before its finish reason, is cut and not an answer', async () => {
    const whole = streamOf('Grüße', 'm')
    const last = Buffer.from(whole.slice(0, whole.indexOf('"finish_reason":"stop"'))).length
    const { fault } = asker({ type: 'openai-compatible', url: server.url, breaker: { failures: 100 } })
    const law = fc.asyncProperty(fc.integer({ min: 1, max: last }), async (bytes) => {
      const text = Buffer.from(whole).subarray(0, bytes).toString()
      server.next(pieces('text/event-stream', text, { bytes: 200 }))
      expect((await fault()).code).toBe('provider_unavailable')
    })
    await fc.assert(law, { numRuns: 15 })
  })

  test('needs no end mark after its finish reason, and no finish reason before its end mark', async () => {
    const whole = streamOf('done')
    server.next(pieces('text/event-stream', whole.replace('data: [DONE]\n\n', ''), { bytes: 200 }))
    expect(await own().ask()).toMatchObject({ text: 'done', finish_reason: 'stop' })
    server.next(
      pieces('text/event-stream', whole.replace('"finish_reason":"stop"', '"finish_reason":null'), { bytes: 200 }),
    )
    expect(await own().ask()).toMatchObject({ text: 'done', finish_reason: 'unknown' })
  })

  test('without usage is estimated, and says so', async () => {
    server.next(json(200, completion('four chars', { usage: null })))
    const { note, tokens_in, tokens_out, usd } = await own().ask()
    expect([note, tokens_in, tokens_out, usd]).toEqual([expect.stringContaining('estimated'), 2, 3, undefined])
  })

  test.each([
    ['negative', { prompt_tokens: -4, completion_tokens: 1e300 }],
    ['no', { prompt_tokens: null, completion_tokens: null }],
  ])('with %s counts is estimated', async (_, usage) => {
    server.next(json(200, completion('four chars', { usage })))
    expect(await own().ask()).toMatchObject({ tokens_in: 2, tokens_out: 3 })
  })

  test('may come in parts, and with members nobody knows', async () => {
    const content = [{ type: 'text', text: 'one ' }, { type: 'thinking' }, { type: 'text', text: 'two' }]
    server.next(json(200, completion(null, choice({ content, reasoning_content: 'hm' }, 'length'))))
    expect(await own().ask()).toMatchObject({ text: 'one two', finish_reason: 'length' })
  })

  test.each<[string, object, string, RegExp]>([
    ['no choice', { choices: [] }, 'provider_invalid', /did not contain any choices/],
    [
      'a tool call',
      choice({ content: null, tool_calls: [{ id: '1', function: { name: 'find', arguments: '{}' } }] }, 'tool_calls'),
      'provider_invalid',
      /calls a tool/,
    ],
    ['a refusal', choice({ content: null, refusal: 'I cannot help.' }), 'provider_refused', /I cannot help/],
    ['a filtered text', choice({ content: 'so far' }, 'content_filter'), 'provider_refused', /content filter/],
    [
      'an error inside',
      { error: { code: 429, message: 'upstream is busy' } },
      'provider_throttled',
      /upstream is busy/,
    ],
    ['an error without a number', { error: { message: 'cut' } }, 'provider_unavailable', /cut/],
  ])('with %s is a typed failure', async (_, more, code, words) => {
    server.next(json(200, completion('', more as Record<string, unknown>)))
    const fault = await own().fault()
    expect([fault.code, fault.message]).toEqual([code, expect.stringMatching(words)])
  })

  test.each<[string, string, string]>([
    [
      'an error in its middle',
      `${streamOf('half').split('\n\n').slice(0, 3).join('\n\n')}\n\ndata: {"error":{"code":503}}\n\n`,
      'provider_unavailable',
    ],
    ['no choice at all', 'data: {"choices":[]}\n\ndata: [DONE]\n\n', 'provider_invalid'],
    ['an event that is no JSON', 'data: {"choi\n\n', 'provider_invalid'],
    [
      'a refusal',
      'data: {"choices":[{"index":0,"delta":{"refusal":"No."},"finish_reason":"stop"}]}\n\n',
      'provider_refused',
    ],
  ])('streamed with %s is a typed failure', async (_, text, code) => {
    server.next(pieces('text/event-stream', text))
    expect((await own().fault()).code).toBe(code)
  })

  test('whose connection breaks in the middle is tried again by the block, never taken as it is', async () => {
    server.next(pieces('text/event-stream', streamOf('half an ans').slice(0, 900), { ending: 'cut' }))
    expect(await own().fault()).toMatchObject({ name: 'Unavailable', code: 'provider_unavailable' })
  })

  test('of an empty account is refused, not waited for', async () => {
    server.next(json(429, { error: { message: 'You exceeded your current quota', code: 'insufficient_quota' } }))
    expect((await own().fault()).code).toBe('provider_refused')
  })

  test('that holds the key holds it no more', async () => {
    const { ask } = asker({ type: 'openai-compatible', url: server.url, key: { env: 'K' } })
    server.next((response, { headers }) =>
      completes(`sent: ${headers.authorization}`)(response, server.asked[0] as never),
    )
    expect((await ask()).text).toBe('sent: Bearer [key]')
  })

  test('of a server that is no API says what to look at', async () => {
    server.next(raw(200, '<html>welcome</html>', { 'content-type': 'text/html' }))
    expect((await own().fault()).message).toMatch(/<html>.*no JSON object. Is its url/)
  })
})
