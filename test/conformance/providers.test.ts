import { createProviders } from '../../functions/providers/registry.ts'
import { SettingsSchema } from '../../shared/settings.ts'
import { startHttpProvider } from '../emulators/http-provider-server.ts'
import { startOllama } from '../emulators/ollama-server.ts'
import { startOpenai } from '../emulators/openai-server.ts'
import type { Asked, ProviderServer } from '../emulators/provider-server.ts'
import { ANSWER, providerSuite, SUITE_KEY, SUITE_TIMEOUT_MS } from './provider-suite.ts'

providerSuite('local', async () => ({ provider: providerOf({ type: 'local' }), close: async () => {} }), {
  offline: true,
})

providerSuite('openai-compatible', () =>
  served('openai-compatible', (key) => startOpenai(({ body }) => said(body.response_format !== undefined), key)),
)

providerSuite('ollama', () =>
  served('ollama', (key) => startOllama(({ body }) => said(body.format !== undefined), key)),
)

providerSuite('http', () => served('http', (key) => startHttpProvider(({ body }) => own(body), key)))

const said = (object: boolean) => (object ? JSON.stringify(ANSWER) : ANSWER.title)

function own({ output_schema }: Asked['body']) {
  return Object.keys(output_schema as object).length > 1
    ? { outputs: ANSWER }
    : { text: ANSWER.title, tokens_in: 4, tokens_out: 2 }
}

async function served(type: string, start: (key: string) => Promise<ProviderServer>) {
  const server = await start(SUITE_KEY)
  const settings = { type, url: server.url, key: { env: 'SUITE_KEY' }, timeout_ms: SUITE_TIMEOUT_MS }
  return { provider: providerOf(settings), server, close: () => server.close() }
}

function providerOf(settings: object) {
  const parsed = SettingsSchema.parse({ providers: { suite: settings } })
  const provider = createProviders(parsed, { readKey: async () => SUITE_KEY }).get('suite')
  if (provider === undefined) throw new Error('it is configured')
  return provider
}
