import { afterEach, describe, expect, test } from 'vitest'
import { createProviders } from '../../../functions/providers/registry.ts'
import { Fault } from '../../../shared/errors.ts'
import type { EmbedRequest } from '../../../shared/providers/provider.ts'
import { SettingsSchema } from '../../../shared/settings/settings.ts'
import { embeds, startEmbedder } from '../../emulators/embedding-server.ts'
import {
  type Behaviour,
  endless,
  hang,
  json,
  type ProviderServer,
  raw,
  reset,
} from '../../emulators/provider-server.ts'

const KEY = 'sk-canary-0123456789'
const PROTOCOLS = [
  ['openai-compatible', '/v1', '/v1/embeddings'],
  ['ollama', '', '/api/embed'],
] as const

/** A text's vector: how long it is, and one. */
const byLength = (text: string) => [text.length, 1]

describe.each(PROTOCOLS)('embeddings of a provider of type %s', (type, base, path) => {
  let server: ProviderServer
  afterEach(() => server.close())

  const open = async (limits: object = {}) => {
    server = await startEmbedder(byLength, KEY)
    const own = { type, url: `${server.url}${base}`, key: { env: 'OWN_KEY' }, timeout_ms: 60_000, ...limits }
    const provider = createProviders(SettingsSchema.parse({ providers: { own } }), { readKey: async () => KEY }).get(
      'own',
    )
    return (texts: readonly string[], more: Partial<EmbedRequest> = {}) => {
      const request = { texts, model: 'e-1', signal: new AbortController().signal, idempotency_key: 'run_1/s0/0/0/e' }
      return provider?.embed?.({ ...request, ...more })
    }
  }
  const failure = async (how: Behaviour, texts = ['a', 'bb']) => {
    const embed = await open(how === hang ? { timeout_ms: 500 } : {})
    server.next(how)
    const thrown: unknown = await Promise.resolve(embed(texts)).catch((error: unknown) => error)
    expect(thrown).toBeInstanceOf(Fault)
    return thrown as Fault
  }

  test('one a text, in order, with what was counted', async () => {
    const embed = await open()
    expect(await embed(['a', 'bbb', ''])).toMatchObject({
      vectors: [
        [1, 1],
        [3, 1],
        [0, 1],
      ],
      tokens_in: 15,
    })
    const [asked] = server.asked
    expect([asked?.path, asked?.body.model, asked?.body.input]).toEqual([path, 'e-1', ['a', 'bbb', '']])
    expect(asked?.headers['idempotency-key']).toBe('run_1/s0/0/0/e')
  })

  test('many texts are several requests, each under a key of its own, and stay in order', async () => {
    const embed = await open()
    const texts = Array.from({ length: 150 }, (_, at) => 'x'.repeat(at))
    const answer = await embed(texts)
    expect(answer?.vectors.map(([length]) => length)).toEqual(texts.map(({ length }) => length))
    expect(answer?.tokens_in).toBe(750)
    expect(new Set(server.asked.map(({ headers }) => headers['idempotency-key'])).size).toBe(3)
  })

  test('what a server does not count is estimated', async () => {
    const embed = await open()
    server.next(embeds([[1], [2]], { usage: undefined, prompt_eval_count: undefined }))
    expect(await embed(['four', 'five5'])).toMatchObject({ tokens_in: 3 })
  })

  test.each<[string, Behaviour, RegExp]>([
    ['fewer vectors than texts', embeds([[1, 2]]), /1 vectors for 2 texts/],
    ['more vectors than texts', embeds([[1], [2], [3]]), /3 vectors for 2 texts/],
    ['vectors of two lengths', embeds([[1, 2], [1]]), /differ in length/],
    ['an empty vector', embeds([[1], []]), /0 numbers/],
    ['a vector that is too long', embeds([[1], new Array(20_000).fill(1)]), /20000 numbers/],
    [
      'null, as JSON says NaN',
      embeds([
        [1, 2],
        [null, 2],
      ]),
      /number 0 of a vector is null/,
    ],
    [
      'NaN as it is no JSON',
      raw(200, '{"data":[{"index":0,"embedding":[NaN]}],"embeddings":[[NaN]]}'),
      /no JSON object/,
    ],
    [
      'a number too large for a double',
      raw(200, '{"data":[{"embedding":[1e999]},{"embedding":[1]}],"embeddings":[[1e999],[1]]}'),
      /number 0 of a vector/,
    ],
    ['numbers as texts', embeds([['1'], ['2']]), /number 0 of a vector is "1"/],
    ['no list', json(200, { ok: true }), /no list of vectors/],
    ['no object', raw(200, '[]'), /no JSON object/],
    ['an answer without an end', endless, /larger than/],
  ])('%s is no answer', async (_, how, words) => {
    expect(await failure(how)).toMatchObject({ code: 'provider_invalid', message: expect.stringMatching(words) })
  })

  test.each<[string, Behaviour, object]>([
    [
      'a rate limit',
      json(429, { error: { message: 'slow down' } }, { 'retry-after': '7' }),
      { code: 'provider_throttled', facts: { retry_after_ms: 7_000 } },
    ],
    ['no such model', json(404, { error: `model "${KEY}" not found` }), { code: 'provider_refused' }],
    ['a failing server', json(503, {}), { code: 'provider_unavailable' }],
    ['a broken connection', reset, { code: 'provider_unavailable' }],
    ['silence', hang, { code: 'provider_timeout' }],
  ])('%s is a typed failure, and never tells the key', async (_, how, fault) => {
    const seen = await failure(how)
    expect(seen).toMatchObject(fault)
    expect(JSON.stringify([seen.message, seen.facts])).not.toContain(KEY)
  })

  test('an abort ends it at once, with its reason', async () => {
    const embed = await open()
    server.next(hang)
    const stop = new AbortController()
    const asked = Promise.resolve(embed(['a'], { signal: stop.signal })).catch((error: unknown) => error)
    setTimeout(() => stop.abort(new Error('enough')), 50)
    expect(await asked).toMatchObject({ message: 'enough' })
  })

  test('a server that is away is left alone, as for its answers', async () => {
    const embed = await open({ breaker: { failures: 2, open_ms: 60_000 } })
    server.next(json(500, {}), json(500, {}))
    for (const _ of [1, 2]) await expect(embed(['a'])).rejects.toMatchObject({ code: 'provider_unavailable' })
    await expect(embed(['a'])).rejects.toThrow(/is not asked for another/)
    expect(server.asked).toHaveLength(2)
  })
})

test('a server that answers in another order says which is which', async () => {
  const server = await startEmbedder(byLength)
  const settings = { own: { type: 'openai-compatible', url: server.url } }
  const embed = createProviders(SettingsSchema.parse({ providers: settings })).get('own')?.embed
  const request = { model: 'e-1', signal: new AbortController().signal, idempotency_key: 'k' }
  const data = (...indexes: number[]) => json(200, { data: indexes.map((index) => ({ index, embedding: [index] })) })
  server.next(data(1, 0), data(0, 0), data(0, 2), data(-1, 0))
  expect(await embed?.({ ...request, texts: ['a', 'b'] })).toMatchObject({ vectors: [[0], [1]] })
  for (const _ of ['twice', 'beyond', 'before']) {
    await expect(embed?.({ ...request, texts: ['a', 'b'] })).rejects.toMatchObject({ code: 'provider_invalid' })
  }
  await server.close()
})

test('other types have none', () => {
  const providers = createProviders(
    SettingsSchema.parse({ providers: { own: { type: 'http', url: 'http://127.0.0.1:1' } } }),
  )
  for (const name of ['own', 'local', 'extractive']) expect(providers.get(name)?.embed).toBeUndefined()
})
