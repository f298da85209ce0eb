import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createProviders } from '../../../functions/providers/registry.ts'
import { loadPackage } from '../../../infra/modules/project-packages.ts'
import { Fault } from '../../../shared/errors.ts'
import type { DispatchRequest } from '../../../shared/providers/provider.ts'
import { SettingsSchema } from '../../../shared/settings/settings.ts'
import { completes, startOpenai } from '../../emulators/openai-server.ts'
import type { ProviderServer } from '../../emulators/provider-server.ts'
import { openTestPlace } from '../test-place.ts'
import { ALL_ADAPTERS } from './all-adapters.ts'

/** Providers of type ai-sdk: what a person's project brings, as the local place loads it. */
const root = mkdtempSync(join(tmpdir(), 'sluice-packages-'))
let server: ProviderServer
let elsewhere: ProviderServer
beforeAll(async () => {
  server = await startOpenai(() => 'fine')
  elsewhere = await startOpenai(() => 'leaked')
  mkdirSync(join(root, 'providers'))
  mkdirSync(join(root, 'node_modules', '@acme', 'models'), { recursive: true })
  const installed = (file: string, text: string) => writeFileSync(join(root, 'node_modules/@acme/models', file), text)
  installed(
    'package.json',
    JSON.stringify({ name: '@acme/models', version: '1.0.0', type: 'module', exports: './index.js' }),
  )
  installed('index.js', MODELS)
  writeFileSync(join(root, 'providers', 'own.ts'), OWN)
  writeFileSync(join(root, 'providers', 'nothing.ts'), 'export const answer: number = 42\n')
  writeFileSync(
    join(root, 'providers', 'old.ts'),
    "export default () => ({ specificationVersion: 'v2', doStream() {}, doGenerate() {} })\n",
  )
})
afterAll(async () => {
  await server.close()
  await elsewhere.close()
  rmSync(root, { recursive: true, force: true })
})

const usage = '{ inputTokens: { total: 3 }, outputTokens: { total: 2 } }'

/** A provider whose models say what the prompt tells them to do. */
const MODELS = `
export function createAcme({ apiKey, baseURL, fetch, greeting }) {
  const answer = (text) => ({
    content: [{ type: 'text', text }],
    finishReason: { unified: 'stop', raw: 'stop' },
    usage: ${usage},
    warnings: [],
  })
  const languageModel = (modelId) => ({
    specificationVersion: 'v4',
    provider: 'acme',
    modelId,
    supportedUrls: {},
    async doGenerate() { return answer('whole') },
    async doStream({ prompt }) {
      const said = prompt.at(-1).content[0].text
      if (said === 'hang') return new Promise(() => {})
      if (said === 'throw') throw new Error('acme failed with ' + apiKey)
      if (said.startsWith('fetch ')) {
        const body = await (await fetch(said.slice(6), { method: 'POST', headers: { authorization: 'Bearer ' + apiKey }, body: '{}' })).text()
        return stream([body])
      }
      if (said === 'endless') return stream(Array.from({ length: 10 }, () => 'x'.repeat(1_000_000)))
      if (said === 'quiet') return { stream: new ReadableStream() }
      return stream([greeting + ' ', modelId])
    },
  })
  const stream = (texts) => ({
    stream: ReadableStream.from([
      { type: 'stream-start', warnings: [] },
      { type: 'text-start', id: '1' },
      ...texts.map((delta) => ({ type: 'text-delta', id: '1', delta })),
      { type: 'text-end', id: '1' },
      { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage: ${usage} },
    ]),
  })
  return { languageModel }
}
export const createOther = undefined
export const VERSION = '1'
`

/** TypeScript, with what it imports; a factory of one model. */
const OWN = `
import { createAcme } from '@acme/models'
interface Given { readonly model: string; readonly [name: string]: unknown }
export default (given: Given) => createAcme({ ...given, greeting: 'own' }).languageModel(given.model)
`

function asker(settings: object) {
  const own = { type: 'ai-sdk', key: { env: 'K' }, ...settings }
  const providers = createProviders(SettingsSchema.parse({ providers: { own } }), {
    adapters: ALL_ADAPTERS,
    readKey: async () => 'sk-canary-0123456789',
    loadPackage: (_, from) => loadPackage(root, from, join(root, '.sluice', 'modules')),
  })
  const provider = providers.get('own')
  if (provider === undefined) throw new Error('it is configured')
  const ask = (prompt = 'hello', more: Partial<DispatchRequest> = {}) =>
    provider.dispatch({
      prompt,
      model: 'm-1',
      params: {},
      inputs: {},
      output_schema: { text: { type: 'string', required: true } },
      feedback: [],
      signal: new AbortController().signal,
      idempotency_key: 'run_1/0/0/1/0',
      ...more,
    })
  const fault = async (prompt?: string, more?: Partial<DispatchRequest>): Promise<Fault> => {
    const thrown: unknown = await ask(prompt, more).catch((error: unknown) => error)
    if (thrown instanceof Fault) return thrown
    throw new Error(`answered ${JSON.stringify(thrown)}`)
  }
  return { ask, fault }
}

const acme = (more: object = {}) =>
  asker({ package: '@acme/models', export: 'createAcme', options: { greeting: 'hello' }, url: server.url, ...more })

describe('a package of the project', () => {
  test('makes models, told its options', async () => {
    expect(await acme().ask()).toMatchObject({ text: 'hello m-1', tokens_in: 3, tokens_out: 2, model: 'm-1' })
  })

  test('that hangs and hears no abort is left at once, and its promise with it', async () => {
    const stop = new AbortController()
    const reason = new Error('stopped')
    const asked = acme().ask('hang', { signal: stop.signal })
    stop.abort(reason)
    await expect(asked).rejects.toBe(reason)
  })

  test('that hangs ends with timeout_ms, and one that falls silent in the middle too', async () => {
    for (const prompt of ['hang', 'quiet']) {
      expect((await acme({ timeout_ms: 200 }).fault(prompt)).code).toBe('provider_timeout')
    }
  })

  test('that says more than 8 MiB by whatever means is cut off', async () => {
    expect((await acme().fault('endless')).message).toMatch(/larger than 8388608 bytes/)
  })

  test('reaches the server of the settings by its fetch, and no other', async () => {
    server.next(completes('through'))
    expect((await acme().ask(`fetch ${server.url}/v1`)).text).toContain('through')
    expect(server.asked.at(-1)?.headers).toMatchObject({
      authorization: 'Bearer sk-canary-0123456789',
      'idempotency-key': 'run_1/0/0/1/0',
    })
    const failed = await acme().fault(`fetch ${elsewhere.url}/v1`)
    expect([failed.code, failed.message]).toEqual([
      'provider_invalid',
      expect.stringContaining(`asks ${elsewhere.url}; allowed are ${server.url}`),
    ])
    expect(elsewhere.asked).toEqual([])
  })

  test.each([
    'http://models.example/',
    'https://127.0.0.1/',
    'https://[::1]/',
    'https://box.local/',
    'https://localhost/',
  ])('without a url of the settings is not let to %s', async (address) => {
    const failed = await acme({ url: undefined }).fault(`fetch ${address}`)
    expect(failed.message).toMatch(/allowed are servers of the internet over https/)
  })

  test('that throws is a failure without the key in it', async () => {
    const failed = await acme().fault('throw')
    expect([failed.code, failed.message]).toEqual([
      'provider_invalid',
      expect.stringContaining('acme failed with [redacted]'),
    ])
    expect(String(failed.cause)).not.toContain('canary')
  })

  test.each<[object, RegExp]>([
    [{ package: '@acme/none' }, /Could not resolve "@acme\/none"/],
    [{ export: 'createNone' }, /exports VERSION, createAcme, createOther, and no function "createNone"/],
    [{ export: undefined }, /no one function that makes models/],
    [{ package: './providers/nothing.ts', export: undefined }, /exports answer, and no one function/],
    [{ package: './providers/old.ts', export: undefined }, /is no language model of the AI SDK \(specification v4/],
    [{ package: './providers/none.ts', export: undefined }, /there is no such file/],
  ])('%j is told in words', async (more, words) => {
    const failed = await acme(more).fault()
    expect([failed.name, words.test(failed.message), failed.message]).toEqual(['InvalidInput', true, failed.message])
  })

  test('in TypeScript, a module of the project, is bundled with what it imports', async () => {
    expect((await asker({ package: './providers/own.ts', url: server.url }).ask()).text).toBe('own m-1')
  })
})

test('a local place asks it in a run', async () => {
  const providers = { own: { type: 'ai-sdk', package: './providers/own.ts', url: server.url } }
  const place = await openTestPlace({}, { providers, project_dir: root })
  try {
    const agent = { provider: 'own', model: 'm-7', prompt: 'hello' }
    const runId = await place.start({ blocks: [{ id: 'a', outputs: { text: 'string' }, agent }] })
    const events = await place.ended(runId)
    expect(events.at(-1)).toMatchObject({ type: 'run:completed' })
    expect(events.find(({ type }) => type === 'block:output')?.data).toMatchObject({ provider: 'own', model: 'm-7' })
  } finally {
    await place.close()
  }
})
