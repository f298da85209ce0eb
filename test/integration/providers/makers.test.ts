import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { GEMINI, MESSAGES, type ModelWire, RESPONSES, saysPieces } from '../../emulators/model-wires.ts'
import { json, type ProviderServer, serveProvider } from '../../emulators/provider-server.ts'
import { asker, PORTS } from './ask.ts'

/** What is special about the makers' own protocols; what every provider promises is in test/conformance/. */
const MAKERS: readonly (readonly [type: string, wire: ModelWire, key: string])[] = [
  ['openai', RESPONSES, 'OPENAI_API_KEY'],
  ['anthropic', MESSAGES, 'ANTHROPIC_API_KEY'],
  ['google', GEMINI, 'GOOGLE_GENERATIVE_AI_API_KEY'],
]

describe.each(MAKERS)('%s', (type, wire, key) => {
  let server: ProviderServer
  beforeEach(async () => {
    server = await serveProvider(saysPieces(wire, { text: '{"title": "T", "steps": null}' }))
  })
  afterEach(async () => {
    vi.unstubAllEnvs()
    await server.close()
  })
  const own = (more: object = {}) => asker({ type, url: server.url, ...more })
  const sent = () => JSON.stringify(server.asked.at(-1)?.body)

  test('takes the parameters every model knows in either spelling, and says what it left out', async () => {
    const answer = await own().ask({ params: { max_tokens: 77, topP: 0.5, seed: 7 } })
    expect(sent()).toMatch(/"(max_tokens|max_output_tokens|maxOutputTokens)":77/)
    expect(sent()).toMatch(/"(top_p|topP)":0\.5/)
    if (type !== 'google') expect(answer.note).toContain('seed was not sent')
  })

  test('that refuses a schema is asked again in words, under another key, and not for it a second time', async () => {
    const { ask } = own()
    const refused = json(400, { error: { message: 'response schema: not supported by this model' } })
    // Gemini is asked for any JSON first.
    const refusals = type === 'google' ? [refused, refused] : [refused]
    server.next(...refusals)
    expect((await ask({ output_schema: PORTS })).text).toContain('"title"')
    const keys = server.asked.map(({ headers }) => headers['idempotency-key'])
    expect(keys).toEqual(['', '/1', '/2'].slice(0, refusals.length + 1).map((step) => `run_1/0/0/1/0${step}`))
    const before = server.asked.length
    await ask({ output_schema: PORTS })
    expect(server.asked).toHaveLength(before + 1)
    expect(sent()).not.toMatch(/json_schema|responseSchema|responseJsonSchema|"name":"json"/)
    expect(sent()).toContain('one JSON object')
  })

  test('is sent no key that the settings do not name, whatever the environment holds', async () => {
    vi.stubEnv(key, 'sk-from-the-environment')
    await own().ask()
    expect(JSON.stringify(server.asked.at(-1)?.headers)).not.toMatch(/sk-from|authorization|api-key/)
  })

  test('whose url has a query is asked with it', async () => {
    await own({ url: `${server.url}/base?tenant=t1` }).ask()
    expect(server.asked.at(-1)?.path).toMatch(/^\/base\/.*[?&]tenant=t1/)
  })
})

test('nothing is kept at OpenAI unless a document says so', async () => {
  const server = await serveProvider(saysPieces(RESPONSES, { text: 'fine' }))
  const { ask } = asker({ type: 'openai', url: server.url })
  await ask()
  await ask({ params: { store: true } })
  expect(server.asked.map(({ body }) => body.store)).toEqual([false, true])
  await server.close()
})
