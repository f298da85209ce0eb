import { vi } from 'vitest'
import { openBedrock } from '../../functions/aws/bedrock.ts'
import { createProviders } from '../../functions/providers/registry.ts'
import type { ReadRecord } from '../../functions/providers/replay.ts'
import type { DispatchAnswer } from '../../shared/providers/provider.ts'
import { type Recording, recordedCall } from '../../shared/providers/recording.ts'
import { SettingsSchema } from '../../shared/settings/settings.ts'
import { startBedrock } from '../emulators/bedrock-server.ts'
import { startHttpProvider } from '../emulators/http-provider-server.ts'
import { startOllama } from '../emulators/ollama-server.ts'
import { startOpenai } from '../emulators/openai-server.ts'
import { startOpenclaw } from '../emulators/openclaw-server.ts'
import type { Asked, ProviderServer } from '../emulators/provider-server.ts'
import { BEDROCK_FAILURES } from './provider-failures.ts'
import { ANSWER, providerSuite, SUITE_KEY, SUITE_REQUEST } from './provider-suite.ts'

providerSuite('local', async () => ({ provider: providerOf({ type: 'local' }), close: async () => {} }), {
  offline: true,
})

providerSuite('openai-compatible', (ms) =>
  served('openai-compatible', ms, (key) => startOpenai(({ body }) => said(body.response_format !== undefined), key)),
)

providerSuite('ollama', (ms) =>
  served('ollama', ms, (key) => startOllama(({ body }) => said(body.format !== undefined), key)),
)

providerSuite('http', (ms) => served('http', ms, (key) => startHttpProvider(({ body }) => own(body), key)))

providerSuite('openclaw', (ms) =>
  served('openclaw', ms, (key) =>
    startOpenclaw(({ body }) => said(JSON.stringify(body.messages).includes('JSON')), key),
  ),
)

providerSuite('bedrock', askBedrock, {
  failures: BEDROCK_FAILURES,
  attemptKey: ({ body }) => (body.requestMetadata as Readonly<Record<string, string>>)['idempotency-key'],
  keyless: true,
})

providerSuite('replay', async () => ({ provider: replaying(), close: async () => {} }), { offline: true })

/** Credentials of a place are found where the AWS SDK finds them. */
async function askBedrock(timeout_ms: number) {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIAEMULATED')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'emulated')
  const server = await startBedrock(({ body }) => (body.toolConfig === undefined ? ANSWER.title : { tool: ANSWER }))
  const settings = { type: 'bedrock', region: 'us-east-1', endpoint: server.url, timeout_ms }
  const close = async () => {
    vi.unstubAllEnvs()
    await server.close()
  }
  return { provider: providerOf(settings), server, close }
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

async function served(type: string, timeout_ms: number, start: (key: string) => Promise<ProviderServer>) {
  const server = await start(SUITE_KEY)
  const settings = { type, url: server.url, key: { env: 'SUITE_KEY' }, timeout_ms }
  return { provider: providerOf(settings), server, close: () => server.close() }
}

function providerOf(settings: object, readRecord?: ReadRecord) {
  const parsed = SettingsSchema.parse({ providers: { suite: settings } })
  const provider = createProviders(parsed, {
    readKey: async () => SUITE_KEY,
    bedrock: openBedrock,
    ...(readRecord === undefined ? {} : { readRecord }),
  }).get('suite')
  if (provider === undefined) throw new Error('it is configured')
  return provider
}
