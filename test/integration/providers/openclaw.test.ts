import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startOpenclaw } from '../../emulators/openclaw-server.ts'
import { hang, json, type ProviderServer, pieces } from '../../emulators/provider-server.ts'
import { asker, PORTS } from './ask.ts'

let server: ProviderServer
beforeEach(async () => {
  server = await startOpenclaw(({ body }) =>
    JSON.stringify(body.messages).includes('JSON') ? '{"title": "T"}' : 'Done.',
  )
})
afterEach(() => server.close())
const claw = (more: object = {}) => asker({ type: 'openclaw', url: server.url, ...more })

describe('openclaw', () => {
  test.each([
    ['main', 'openclaw:main', 'main'],
    ['openclaw/main', 'openclaw:main', 'main'],
    ['openclaw:main', 'openclaw:main', 'main'],
    ['agent:main', 'openclaw:main', 'main'],
    ['openclaw', 'openclaw', undefined],
    ['openclaw/default', 'openclaw', undefined],
  ])('model %s asks that agent', async (model, sent, header) => {
    const { ask } = claw()
    expect(await ask({ model, system: 'Be brief.' })).toMatchObject({ text: 'Done.', tokens_in: 21, tokens_out: 9 })
    const [asked] = server.asked
    expect([asked?.path, asked?.body.model, asked?.headers['x-openclaw-agent-id']]).toEqual([
      '/v1/chat/completions',
      sent,
      header,
    ])
    expect(asked?.body).toMatchObject({ stream: true, messages: [{ role: 'system' }, { role: 'user' }] })
  })

  test('a url with /v1 is meant the same', async () => {
    await claw({ url: `${server.url}/v1` }).ask({ model: 'main' })
    expect(server.asked[0]?.path).toBe('/v1/chat/completions')
  })

  test('asks for an object in words: agents know no schema', async () => {
    expect((await claw().ask({ model: 'main', output_schema: PORTS })).text).toBe('{"title": "T"}')
    expect(server.asked[0]?.body).not.toHaveProperty('response_format')
  })

  test('names the model behind the agent in a header', async () => {
    await claw().ask({ model: 'main', params: { backend_model: 'vendor/model-1', temperature: 0 } })
    expect(server.asked[0]?.headers['x-openclaw-model']).toBe('vendor/model-1')
    expect(server.asked[0]?.body).toMatchObject({ temperature: 0 })
    expect(server.asked[0]?.body).not.toHaveProperty('backend_model')
  })

  test.each([
    [{ model: 'a b' }, /its models are agents/],
    [{ model: 'main', params: { backend_model: 'x\r\ny: z' } }, /backend_model must name a model/],
    [{ model: 'main', params: { tools: [] } }, /model_params has tools/],
  ])('refuses %j before anything is sent', async (request, words) => {
    const failed = await claw().fault(request)
    expect([failed.code, words.test(failed.message)]).toEqual(['provider_invalid', true])
    expect(server.asked).toEqual([])
  })

  test('an agent that is not there, and the 429 of a gateway that was sent too many wrong tokens, are typed', async () => {
    expect((await claw().fault({ model: 'nobody' })).code).toBe('provider_refused')
    server.next(json(429, { error: { message: 'too many' } }, { 'retry-after': '60' }))
    expect(await claw().fault({ model: 'main' })).toMatchObject({
      code: 'provider_throttled',
      facts: { retry_after_ms: 60_000 },
    })
  })
})

describe('idle_ms', () => {
  test('ends an answer that stops in the middle, long before timeout_ms, and hangs up', async () => {
    server.next(async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: {"choices": [{"index": 0, "delta": {"content": "Gr"}}]}\n\n')
    })
    const failed = await claw({ idle_ms: 200, timeout_ms: 60_000 }).fault({ model: 'main' })
    expect([failed.code, /nothing for 200 ms in the middle/.test(failed.message)]).toEqual(['provider_timeout', true])
    await expect.poll(() => server.hungUp.length).toBe(1)
  })

  test('counts from the head of the answer on', async () => {
    server.next((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.flushHeaders()
    })
    const failed = await claw({ idle_ms: 200, timeout_ms: 60_000 }).fault({ model: 'main' })
    expect(failed.message).toContain('nothing for 200 ms in the middle')
  })

  test('does not end one that drips, nor one that is thought about for long', { tags: ['thorough'] }, async () => {
    const stream = [...'Slowly'].map(
      (content) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`,
    )
    server.next(async (response, asked) => {
      await new Promise((done) => setTimeout(done, 2_500))
      const end = 'data: {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'
      return pieces('text/event-stream', [...stream, end].join(''), { bytes: 40, ms: 150 })(response, asked)
    })
    // Ten times what lies between two pieces, and less than the head takes, or all pieces together.
    expect((await claw({ idle_ms: 1_500 }).ask({ model: 'main' })).text).toBe('Slowly')
    server.next(hang)
    expect((await claw({ idle_ms: 200, timeout_ms: 600 }).fault({ model: 'main' })).message).toContain('within 600 ms')
  })
})
