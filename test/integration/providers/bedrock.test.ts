import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

import { createProviders } from '../../../functions/providers/registry.ts'
import type { DispatchAnswer, DispatchRequest } from '../../../shared/providers/provider.ts'
import { SettingsSchema } from '../../../shared/settings/settings.ts'
import { converses, event, frames, refusal, type Said, startBedrock } from '../../emulators/bedrock-server.ts'
import { hang, type ProviderServer } from '../../emulators/provider-server.ts'
import { ALL_ADAPTERS } from './all-adapters.ts'
import { PORTS } from './ask.ts'

const TEXT = { text: { type: 'string', required: true } } as const
const BEGUN = [
  event('messageStart', { role: 'assistant' }),
  event('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Gr' } }),
]

let server: ProviderServer
let reply: Said
beforeEach(async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIAEMULATED')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'canary-emulated')
  reply = 'Grüße 🌊'
  server = await startBedrock(() => reply)
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await server.close()
})

function asker(more: object = {}) {
  const settings = { type: 'bedrock', region: 'us-east-1', endpoint: server.url, timeout_ms: 60_000, ...more }
  const parsed = SettingsSchema.parse({ providers: { own: settings } })
  const provider = createProviders(parsed, { adapters: ALL_ADAPTERS }).get('own')
  if (provider === undefined) throw new Error('it is configured')
  return (request: Partial<DispatchRequest> = {}): Promise<DispatchAnswer> =>
    provider.dispatch({
      prompt: 'Plan it.',
      model: 'amazon.nova-lite-v1:0',
      params: {},
      inputs: {},
      output_schema: TEXT,
      feedback: [],
      signal: new AbortController().signal,
      idempotency_key: 'run_1/0/0/1/0',
      ...request,
    })
}

describe('bedrock over the wire', () => {
  test('asks Converse as a stream, signed, and reads text, tokens, price and why it stopped', async () => {
    const answer = await asker()({ system: 'Be brief.', model: 'us.anthropic.claude-sonnet-4-20250514-v1:0' })
    expect(answer).toEqual({
      text: 'Grüße 🌊',
      tokens_in: 21,
      tokens_out: 9,
      usd: (21 * 3 + 9 * 15) / 1_000_000,
      model: 'us.anthropic.claude-sonnet-4-20250514-v1:0',
      finish_reason: 'end_turn',
    })
    const [asked] = server.asked
    expect(asked?.path).toBe('/model/us.anthropic.claude-sonnet-4-20250514-v1%3A0/converse-stream')
    expect(asked?.headers.authorization).toMatch(/^AWS4-HMAC-SHA256 Credential=AKIAEMULATED\/.*\/us-east-1\/bedrock\//)
    expect(asked?.body).toEqual({
      messages: [{ role: 'user', content: [{ text: 'Plan it.' }] }],
      system: [{ text: 'Be brief.' }],
      requestMetadata: { 'idempotency-key': 'run_1/0/0/1/0' },
    })
  })

  test('knows no price of another region or model', async () => {
    expect(await asker({ region: 'eu-central-1' })()).not.toHaveProperty('usd')
    expect(await asker()({ model: 'cohere.command-r-v1:0' })).not.toHaveProperty('usd')
  })

  test('gives params the places Converse has for them, and the others to the model', async () => {
    await asker()({
      params: { max_tokens: 100, temperature: 0, top_p: 0.5, stop: ['END'], top_k: 3, thinking: { type: 'enabled' } },
    })
    expect(server.asked[0]?.body).toMatchObject({
      inferenceConfig: { maxTokens: 100, temperature: 0, topP: 0.5, stopSequences: ['END'] },
      additionalModelRequestFields: { top_k: 3, thinking: { type: 'enabled' } },
    })
  })

  test('refuses params that are its own to write', async () => {
    await expect(asker()({ params: { toolConfig: {} } })).rejects.toMatchObject({
      code: 'provider_invalid',
      message: expect.stringContaining('model_params has toolConfig'),
    })
    expect(server.asked).toEqual([])
  })

  test('asks for an object by a tool whose input it is, and in words', async () => {
    reply = { tool: { title: 'T', steps: 3 } }
    const answer = await asker()({ output_schema: PORTS })
    expect([JSON.parse(answer.text), answer.finish_reason]).toEqual([{ title: 'T', steps: 3 }, 'tool_use'])
    expect(server.asked[0]?.body).toMatchObject({
      toolConfig: {
        tools: [{ toolSpec: { name: 'answer', inputSchema: { json: { required: ['title', 'steps'] } } } }],
        toolChoice: { tool: { name: 'answer' } },
      },
      system: [{ text: expect.stringContaining('JSON') }],
    })
  })

  test('takes an object that comes as a text instead', async () => {
    reply = '{"title": "T", "steps": 3}'
    expect((await asker()({ output_schema: PORTS })).text).toBe(reply)
  })
})

describe('a model that lacks a feature', () => {
  const lacks = (words: string) => refusal(400, 'ValidationException', words)

  test('without streams is asked for whole answers from then on', async () => {
    server.next(lacks('The model is not supported for streaming.'))
    const ask = asker()
    expect((await ask()).text).toBe('Grüße 🌊')
    await ask()
    expect(server.asked.map(({ path }) => path.split('/').at(-1))).toEqual(['converse-stream', 'converse', 'converse'])
  })

  test('without tools and system text is asked in words alone, within one dispatch', async () => {
    reply = '{"title": "T", "steps": 3}'
    server.next(
      lacks("This model doesn't support tool use."),
      lacks("This model doesn't support the system parameter."),
    )
    const { text } = await asker()({ output_schema: PORTS, system: 'Be brief.' })
    expect(JSON.parse(text)).toEqual({ title: 'T', steps: 3 })
    const last = server.asked.at(-1)?.body
    expect(server.asked).toHaveLength(3)
    expect(Object.keys(last ?? {}).sort()).toEqual(['messages', 'requestMetadata'])
    expect(JSON.stringify(last?.messages)).toMatch(/Be brief\..*JSON.*Plan it\./)
  })

  test('a whole answer may be an object too', async () => {
    reply = { tool: { title: 'T', steps: 3 } }
    server.next(lacks('streaming is not supported'))
    expect(JSON.parse((await asker()({ output_schema: PORTS })).text)).toEqual({ title: 'T', steps: 3 })
  })

  test('that refuses something else is asked once', async () => {
    server.next(lacks('Input is too long for requested model.'))
    await expect(asker()()).rejects.toMatchObject({
      code: 'provider_refused',
      message: expect.stringContaining('Input is too long'),
    })
    expect(server.asked).toHaveLength(1)
  })
})

describe('a stream', () => {
  test('that is silent for idle_ms is given up long before timeout_ms', async () => {
    server.next(frames(BEGUN, 'open'))
    await expect(asker({ idle_ms: 200 })()).rejects.toMatchObject({
      code: 'provider_timeout',
      message: expect.stringContaining('nothing for 200 ms in the middle'),
    })
    await expect.poll(() => server.hungUp.length).toBe(1)
  })

  test('is closed when the call is stopped in the middle of it', async () => {
    server.next(frames(BEGUN, 'open'))
    const stop = new AbortController()
    const asked = asker()({ signal: stop.signal })
    await expect.poll(() => server.asked.length).toBe(1)
    await new Promise((done) => setTimeout(done, 100))
    const reason = new Error('stopped')
    stop.abort(reason)
    await expect(asked).rejects.toBe(reason)
    await expect.poll(() => server.hungUp.length).toBe(1)
  })

  test('that is no use is closed: nothing more of it is read', async () => {
    const much = event('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'x'.repeat(1_048_576) } })
    server.next(
      frames(
        Array.from({ length: 9 }, () => much),
        'open',
      ),
    )
    await expect(asker()()).rejects.toMatchObject({ code: 'provider_invalid' })
    await expect.poll(() => server.hungUp.length).toBe(1)
  })

  test('leaves out what a model thought', async () => {
    const thought = event('contentBlockDelta', { contentBlockIndex: 0, delta: { reasoningContent: { text: 'Hm.' } } })
    const said = event('contentBlockDelta', { contentBlockIndex: 1, delta: { text: 'Yes' } })
    server.next(frames([thought, said, event('messageStop', { stopReason: 'max_tokens' })]))
    expect(await asker()()).toMatchObject({
      text: 'Yes',
      finish_reason: 'max_tokens',
      note: expect.stringContaining('estimated'),
    })
  })
})

describe('what AWS says', () => {
  test('of rights is not repeated: it names accounts and roles', async () => {
    const words = 'User: arn:aws:sts::123456789012:assumed-role/x is not authorized to perform: bedrock:InvokeModel'
    server.next(refusal(403, 'AccessDeniedException', words))
    const error = await asker()().catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ name: 'Rejected', code: 'provider_refused', facts: { status: 403 } })
    expect(String(error)).not.toContain('123456789012')
  })

  test('no credentials at all are a missing key, in words', async () => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', undefined)
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', undefined)
    vi.stubEnv('AWS_CONFIG_FILE', '/dev/null')
    vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', '/dev/null')
    vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true')
    await expect(asker()()).rejects.toMatchObject({
      code: 'provider_key_missing',
      message: expect.stringContaining('no AWS credentials or no region'),
    })
  })

  test('keeps its secrets out of every failure', async () => {
    server.next(hang, refusal(500, 'InternalServerException', 'oh'), refusal(400, 'ValidationException', 'no'))
    const told: string[] = []
    for (const timeout_ms of [300, 60_000, 60_000]) {
      const error: unknown = await asker({ timeout_ms })().catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(Error)
      told.push(String(error), String((error as Error).stack), JSON.stringify(error))
    }
    expect(told.filter((text) => text.includes('canary'))).toEqual([])
  })

  test('whole answers are read like streams', async () => {
    server.next(refusal(400, 'ValidationException', 'streaming'), converses('Whole', 'stop_sequence'))
    expect(await asker()()).toMatchObject({
      text: 'Whole',
      finish_reason: 'stop_sequence',
      tokens_in: 21,
      tokens_out: 9,
    })
  })
})
