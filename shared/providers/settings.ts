import * as z from 'zod'
import { httpUrl, KeySchema } from '../ports/secrets.ts'
import { didYouMean, suggest } from '../text/wording.ts'
import { BREAKER } from './circuit-breaker.ts'

/** What a model id of Amazon Bedrock names: a model of one region, a profile that spreads calls over regions, or an ARN. */
type BedrockModel =
  | { readonly kind: 'foundation'; readonly id: string }
  /** `id` as it is asked for, `us.vendor.model`; `model` the foundation model behind it. */
  | { readonly kind: 'profile'; readonly id: string; readonly model: string }
  /** Application profiles, provisioned, imported and custom models. */
  | { readonly kind: 'arn'; readonly arn: string; readonly profile: boolean }

/** Ids and ARNs that settings may list: characters that mean nothing else in a policy. */
const BEDROCK_MODEL_ID =
  /^(arn:aws[a-z-]*:bedrock:[a-z0-9-]+:\d{12}:(application-inference-profile|inference-profile|provisioned-model|imported-model|custom-model-deployment)\/[\w.:-]{1,200}|[a-z0-9-]+(\.[A-Za-z0-9:_-]+)+)$/

export function bedrockModel(id: string): BedrockModel {
  if (id.startsWith('arn:')) return { kind: 'arn', arn: id, profile: id.includes('inference-profile/') }
  const [first = '', ...rest] = id.split('.')
  return GEOGRAPHIES.has(first) && rest.length > 1
    ? { kind: 'profile', id, model: rest.join('.') }
    : { kind: 'foundation', id }
}

/** First parts of the ids of AWS's own cross-region profiles. No vendor of models is called so. */
const GEOGRAPHIES = new Set(['us', 'us-gov', 'eu', 'apac', 'jp', 'au', 'ca', 'global'])

const TYPES = [
  'local',
  'ollama',
  'openai-compatible',
  'openai',
  'anthropic',
  'google',
  'ai-sdk',
  'openclaw',
  'http',
  'bedrock',
  'replay',
] as const

/** Those that have embeddings. */
export const EMBEDDING_TYPES: readonly string[] = ['ollama', 'openai-compatible', 'openai']

/** An allow-list: a block or agent that asks for another model is refused. Absent = any. */
const models = z.array(z.string().min(1).max(200)).min(1).max(200).optional()

/** What holds for every provider that is reached over a network. */
const limits = {
  /** Of one dispatch in all; the block's own timeout_ms holds too. */
  timeout_ms: z.int().min(1).max(840_000).optional(),
  /** Calls under way at once, of all runs and processes of the place. Absent = any number. */
  max_concurrency: z.int().min(1).max(1_000).optional(),
  /** After how many failures in a row it is left alone, and for how long. */
  breaker: z
    .strictObject({
      failures: z.int().min(1).max(100).default(BREAKER.failures),
      open_ms: z.int().min(100).max(600_000).default(BREAKER.open_ms),
    })
    .optional(),
}

/** Longest silence in the middle of an answer that comes in pieces. */
const idle_ms = z.int().min(100).max(840_000).optional()

const remote = { url: httpUrl, key: KeySchema.optional(), ...limits, models }

/** The makers' own servers: their address is known, and may be another's (a gateway, a stand-in). */
const maker = (url: string) => ({ ...remote, url: httpUrl.default(url), idle_ms })

/** A package of the project by its name, or a module below the folder of sluice.yaml; it names nothing outside of them. */
const PACKAGE_NAME =
  /^((@[a-z0-9][a-z0-9._-]*\/)?[a-z0-9][a-z0-9._-]*|\.(\/[A-Za-z0-9_][A-Za-z0-9._-]*)+\.(ts|js|mjs))$/

const aiSdk = {
  package: z
    .string({
      error: ({ input }) =>
        input === undefined
          ? 'is missing: name a package such as "@ai-sdk/mistral", or a module such as ./providers/own.ts'
          : 'a text',
    })
    .max(200)
    .regex(PACKAGE_NAME, 'the name of an npm package of the project, or a path like ./providers/own.ts'),
  /** What makes its models; absent: the one export that is called create.., of a module the default export. */
  export: z
    .string()
    .regex(/^[A-Za-z_$][\w$]{0,99}$/, 'the name of an export')
    .optional(),
  /** Told to that export besides key, address and fetch. */
  options: z.record(z.string().min(1).max(100), z.json()).optional(),
  /** Absent = the package knows its server. */
  url: httpUrl.optional(),
  key: KeySchema.optional(),
  idle_ms,
  ...limits,
  models,
}

const bedrock = {
  /** Absent = the place's own: the deployment's, or what the AWS SDK finds locally. */
  region: z
    .string()
    .regex(/^[a-z]{2}(-[a-z]+)+-\d$/, 'a region such as eu-central-1')
    .optional(),
  /** A VPC endpoint, or a stand-in. */
  endpoint: httpUrl.optional(),
  /** On AWS the right to ask is granted on exactly these. */
  models: z
    .array(
      z
        .string()
        .max(300)
        .regex(BEDROCK_MODEL_ID, 'a model id, an inference profile id, or the ARN of a profile or model'),
    )
    .min(1)
    .max(50)
    .optional(),
  idle_ms,
  ...limits,
}

/** Where the recording is: a file (the local place), or an object ref (both). */
const record = z
  .string({
    error: ({ input }) => (input === undefined ? 'is missing: give a file or objstore://<tenant>/<sha256>' : 'a text'),
  })
  .min(1)
  .max(1_000)

/** One entry of `providers` in sluice.yaml. */
export const ProviderSettingsSchema = z.discriminatedUnion(
  'type',
  [
    z.strictObject({ type: z.literal('local'), models }),
    z.strictObject({ type: z.literal('ollama'), ...remote, idle_ms }),
    z.strictObject({ type: z.literal('openai-compatible'), ...remote, idle_ms }),
    z.strictObject({ type: z.literal('openai'), ...maker('https://api.openai.com/v1') }),
    z.strictObject({ type: z.literal('anthropic'), ...maker('https://api.anthropic.com/v1') }),
    z.strictObject({ type: z.literal('google'), ...maker('https://generativelanguage.googleapis.com/v1beta') }),
    z.strictObject({ type: z.literal('ai-sdk'), ...aiSdk }),
    z.strictObject({ type: z.literal('openclaw'), ...remote, idle_ms }),
    z.strictObject({ type: z.literal('http'), ...remote }),
    z.strictObject({ type: z.literal('bedrock'), ...bedrock }),
    z.strictObject({ type: z.literal('replay'), record, models }),
  ],
  { error: ({ input }) => typeWords((input as { readonly type?: unknown } | null | undefined)?.type) },
)
export type ProviderSettings = z.infer<typeof ProviderSettingsSchema>
/** Of the types that are reached by a URL of the operator's. */
export type RemoteSettings = Extract<ProviderSettings, { readonly url: string }>
export type AiSdkSettings = Extract<ProviderSettings, { readonly type: 'ai-sdk' }>
export type BedrockSettings = Extract<ProviderSettings, { readonly type: 'bedrock' }>

/** Who answers behind a provider's name: a result kept from another url, region or recording is not its own. */
export function providerIdentity(settings: ProviderSettings): string {
  switch (settings.type) {
    case 'local':
      return ''
    case 'bedrock':
      return [settings.region ?? '', settings.endpoint ?? ''].join(' ').trim()
    case 'replay':
      return settings.record
    case 'ai-sdk':
      return [settings.package, settings.export ?? '', settings.url ?? ''].join(' ').trim()
    default:
      return settings.url
  }
}

function typeWords(seen: unknown): string {
  const near = typeof seen === 'string' ? didYouMean(suggest(seen, TYPES)) : undefined
  const allowed = `type must be one of ${TYPES.map((type) => `"${type}"`).join(', ')}`
  return near === undefined ? allowed : `${allowed}. ${near}`
}

/** `agents` of sluice.yaml: a role's provider and model under a name that documents ask for. */
export const AgentSettingsSchema = z.strictObject({
  role: z.enum(['worker', 'reviewer', 'manager', 'specialist']),
  provider: z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/),
  model: z.string().min(1).max(200),
  capabilities: z.array(z.string().min(1).max(100)).max(100).optional(),
  /** Sent before the prompt of blocks that have no `system` of their own; as it stands, it is no template. */
  system: z
    .string()
    .min(1)
    .max(20_000)
    .refine((text) => !text.includes('{{'), 'a text without {{ }}: it is sent as it is, placeholders are for blocks')
    .optional(),
})
export type AgentSettings = z.infer<typeof AgentSettingsSchema>
