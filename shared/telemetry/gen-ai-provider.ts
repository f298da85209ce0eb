import type { Settings } from '../settings.ts'

/** Who is asked, in the words of the convention. */
export interface GenAiProvider {
  readonly name: string
  /** It computes in this process. */
  readonly here: boolean
  readonly address?: string
  readonly port?: number
}

/**
 * `gen_ai.provider.name` and the server of a configured provider. The well-known names are OpenTelemetry's (semantic
 * conventions for generative AI); servers that speak OpenAI's protocol and are not in the list are `openai`, since the
 * name says the form of what is asked; what the list has no name for goes by the type of sluice.yaml.
 */
export function genAiProvider(providers: Settings['providers'], name: string): GenAiProvider {
  const settings = Object.hasOwn(providers, name) ? providers[name] : undefined
  if (settings === undefined || settings.type === 'local' || settings.type === 'replay') {
    return { name: `sluice.${settings?.type ?? name}`, here: true }
  }
  if (settings.type === 'bedrock') return { name: 'aws.bedrock', here: false, ...serverOf(bedrockUrl(settings)) }
  const server = serverOf(settings.url)
  const known = settings.type === 'openai-compatible' ? (wellKnown(server.address) ?? 'openai') : settings.type
  return { name: known, here: false, ...server }
}

function bedrockUrl({
  endpoint,
  region,
}: {
  readonly endpoint?: string | undefined
  readonly region?: string | undefined
}) {
  return endpoint ?? (region === undefined ? undefined : `https://bedrock-runtime.${region}.amazonaws.com`)
}

function serverOf(url: string | undefined): Pick<GenAiProvider, 'address' | 'port'> {
  if (url === undefined) return {}
  const { hostname, port, protocol } = new URL(url)
  const usual = protocol === 'http:' ? 80 : 443
  return { address: hostname, port: port === '' ? usual : Number(port) }
}

function wellKnown(host = ''): string | undefined {
  return HOSTS.find(([end]) => host === end || host.endsWith(`.${end}`))?.[1]
}

const HOSTS: readonly (readonly [string, string])[] = [
  ['openai.azure.com', 'azure.ai.openai'],
  ['services.ai.azure.com', 'azure.ai.inference'],
  ['api.openai.com', 'openai'],
  ['api.anthropic.com', 'anthropic'],
  ['api.cohere.ai', 'cohere'],
  ['api.cohere.com', 'cohere'],
  ['api.deepseek.com', 'deepseek'],
  ['api.groq.com', 'groq'],
  ['api.mistral.ai', 'mistral_ai'],
  ['api.perplexity.ai', 'perplexity'],
  ['api.x.ai', 'x_ai'],
  ['generativelanguage.googleapis.com', 'gcp.gemini'],
  ['aiplatform.googleapis.com', 'gcp.vertex_ai'],
]
