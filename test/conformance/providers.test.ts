import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createProviders } from '../../functions/providers/registry.ts'
import type { ReadRecord } from '../../functions/providers/replay.ts'
import type { DispatchAnswer } from '../../shared/providers/provider.ts'
import { type Recording, recordedCall } from '../../shared/providers/recording.ts'
import { SettingsSchema } from '../../shared/settings/settings.ts'
import { startBedrock } from '../emulators/bedrock-server.ts'
import { startHttpProvider } from '../emulators/http-provider-server.ts'
import {
  CHAT,
  CONVERSE,
  GEMINI,
  MESSAGES,
  type ModelWire,
  OLLAMA,
  OWN,
  RESPONSES,
  saysPieces,
} from '../emulators/model-wires.ts'
import { startOllama } from '../emulators/ollama-server.ts'
import { startOpenai } from '../emulators/openai-server.ts'
import { startOpenclaw } from '../emulators/openclaw-server.ts'
import { type Asked, type Behaviour, type ProviderServer, serveProvider } from '../emulators/provider-server.ts'
import { ALL_ADAPTERS } from '../integration/providers/all-adapters.ts'
import { BEDROCK_FAILURES } from './provider-failures.ts'
import { ANSWER, type OpenedProvider, providerSuite, SUITE_KEY, SUITE_REQUEST, silenceSuite } from './provider-suite.ts'
import { providerToolsSuite, TOOLS } from './provider-tools-suite.ts'

providerSuite('local', async () => ({ provider: providerOf({ type: 'local' }), close: async () => {} }), {
  offline: true,
})

const compatible = (ms: number) =>
  served('openai-compatible', ms, (key) => startOpenai(({ body }) => said(body.response_format !== undefined), key))
providerSuite('openai-compatible', compatible)
providerToolsSuite('openai-compatible', compatible, { wire: CHAT })

const responses = (ms: number) =>
  served('openai', ms, (key) =>
    serveProvider(
      (response, asked) => says(RESPONSES, JSON.stringify(asked.body.text ?? {}).includes('schema'))(response, asked),
      key,
    ),
  )
providerSuite('openai', responses)
providerToolsSuite('openai', responses, { wire: RESPONSES })

/** A model that is not known to hold to a schema is asked by a tool whose input is the answer. */
const messages = (ms: number) =>
  served('anthropic', ms, (key) => {
    const usual: Behaviour = (response, asked) => {
      const asksTool = JSON.stringify(asked.body.tools ?? []).includes('"json"')
      const call = { id: 'toolu_1', tool: 'json', arguments: JSON.stringify(ANSWER) }
      const isObject = asked.body.output_config !== undefined || asked.body.output_format !== undefined
      return (asksTool ? saysPieces(MESSAGES, { calls: [call] }) : says(MESSAGES, isObject))(response, asked)
    }
    return serveProvider(usual, key, 'x-api-key')
  })
providerSuite('anthropic', messages, { keyHeader: 'x-api-key' })
providerToolsSuite('anthropic', messages, { wire: MESSAGES })

const gemini = (ms: number) =>
  served('google', ms, (key) =>
    serveProvider(
      (response, asked) =>
        says(GEMINI, JSON.stringify(asked.body.generationConfig ?? {}).includes('Schema'))(response, asked),
      key,
      'x-goog-api-key',
    ),
  )
providerSuite('google', gemini, { keyHeader: 'x-goog-api-key' })
providerToolsSuite('google', gemini, { wire: GEMINI, objectArguments: true, noIds: true })

/** A package of the project, by its name: its create.. is found, and given key, address and fetch. */
const packaged = (ms: number) =>
  served('ai-sdk', ms, (key) => startOpenai(({ body }) => said(body.response_format !== undefined), key), {
    package: '@ai-sdk/openai-compatible',
    options: { name: 'own', includeUsage: true, supportsStructuredOutputs: true },
  })
providerSuite('ai-sdk', packaged)
providerToolsSuite('ai-sdk', packaged, { wire: CHAT })

const chat = (ms: number) =>
  served('ollama', ms, (key) => startOllama(({ body }) => said(body.format !== undefined), key))
providerSuite('ollama', chat)
providerToolsSuite('ollama', chat, { wire: OLLAMA, objectArguments: true })

const house = (ms: number) => served('http', ms, (key) => startHttpProvider(({ body }) => own(body), key))
providerSuite('http', house)
providerToolsSuite('http', house, { wire: OWN, whole: true })

const claw = (ms: number) =>
  served('openclaw', ms, (key) =>
    startOpenclaw(({ body }) => said(JSON.stringify(body.messages).includes('JSON')), key),
  )
providerSuite('openclaw', claw)

providerSuite('bedrock', askBedrock, {
  failures: BEDROCK_FAILURES,
  attemptKey: ({ body }) => (body.requestMetadata as Readonly<Record<string, string>>)['idempotency-key'],
  keyless: true,
})
providerToolsSuite('bedrock', askBedrock, { wire: CONVERSE, keyless: true })

silenceSuite([
  ['openai-compatible', compatible],
  ['openai', responses],
  ['anthropic', messages],
  ['google', gemini],
  ['ai-sdk', packaged],
  ['ollama', chat],
  ['http', house],
  ['openclaw', claw],
  ['bedrock', askBedrock, BEDROCK_FAILURES],
])

providerSuite('replay', async () => ({ provider: replaying(), close: async () => {} }), { offline: true })

test.each([
  ['local', async () => ({ provider: providerOf({ type: 'local' }), close: async () => {} })],
  ['openclaw', claw],
] as const)('%s takes no tools, and says so before anything is sent', async (_, open) => {
  const opened: OpenedProvider = await open(60_000)
  const failed = await opened.provider.dispatch({ ...SUITE_REQUEST, tools: TOOLS }).catch((error: unknown) => error)
  expect(failed).toMatchObject({ name: 'InvalidInput', code: 'provider_no_tools' })
  expect(opened.server?.asked ?? []).toEqual([])
  await opened.close()
})

/** The answer of the suite in a protocol's stream. */
function says(wire: ModelWire, object: boolean): Behaviour {
  return saysPieces(wire, { text: said(object) })
}

/** Credentials of a place are found where the AWS SDK finds them. */
beforeAll(() => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIAEMULATED')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'emulated')
})
afterAll(() => {
  vi.unstubAllEnvs()
})

async function askBedrock(timeout_ms: number) {
  const server = await startBedrock(({ body }) => (body.toolConfig === undefined ? ANSWER.title : { tool: ANSWER }))
  const settings = { type: 'bedrock', region: 'us-east-1', endpoint: server.url, timeout_ms }
  return { provider: providerOf(settings), server, close: () => server.close() }
}

/** Everything the suite asks was recorded. */
function replaying() {
  const answered = (text: string): DispatchAnswer => ({
    text,
    tokens_in: 4,
    tokens_out: 2,
    model: 'm-1',
    finish_reason: 'stop',
  })
  const calls = [recordedCall('suite', SUITE_REQUEST, answered(JSON.stringify(ANSWER)))]
  const recording: Recording = { v: 1, run_id: 'run_0', dag_name: 'd', dag_hash: 'h', calls }
  return providerOf({ type: 'replay', record: 'r.json' }, async () => Buffer.from(JSON.stringify(recording)))
}

const said = (object: boolean) => (object ? JSON.stringify(ANSWER) : ANSWER.title)

function own({ output_schema }: Asked['body']) {
  return Object.keys(output_schema as object).length > 1
    ? { outputs: ANSWER }
    : { text: ANSWER.title, tokens_in: 4, tokens_out: 2 }
}

async function served(
  type: string,
  timeout_ms: number,
  start: (key: string) => Promise<ProviderServer>,
  more: object = {},
) {
  const server = await start(SUITE_KEY)
  const settings = { type, url: server.url, key: { env: 'SUITE_KEY' }, timeout_ms, ...more }
  return { provider: providerOf(settings), server, close: () => server.close() }
}

function providerOf(settings: object, readRecord?: ReadRecord) {
  const parsed = SettingsSchema.parse({ providers: { suite: settings } })
  const provider = createProviders(parsed, {
    readKey: async () => SUITE_KEY,
    adapters: ALL_ADAPTERS,
    loadPackage: (_, from) => import(from),
    ...(readRecord === undefined ? {} : { readRecord }),
  }).get('suite')
  if (provider === undefined) throw new Error('it is configured')
  return provider
}
