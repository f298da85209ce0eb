import * as z from 'zod'
import { BEDROCK_MODEL_ID } from './bedrock-models.ts'
import { BREAKER } from './breaker.ts'
import { didYouMean, suggest } from './dag/suggest.ts'
import { httpUrl, KeySchema } from './key-settings.ts'

const TYPES = ['local', 'ollama', 'openai-compatible', 'openclaw', 'http', 'bedrock', 'replay'] as const

/** Those that have embeddings. */
export const EMBEDDING_TYPES: readonly string[] = ['ollama', 'openai-compatible']

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
export type BedrockSettings = Extract<ProviderSettings, { readonly type: 'bedrock' }>

/** Who answers behind a provider's name: a result kept from another url, region or recording is not its own. */
export function answererOf(settings: ProviderSettings): string {
  switch (settings.type) {
    case 'local':
      return ''
    case 'bedrock':
      return [settings.region ?? '', settings.endpoint ?? ''].join(' ').trim()
    case 'replay':
      return settings.record
    default:
      return settings.url
  }
}

function typeWords(seen: unknown): string {
  const near = typeof seen === 'string' ? didYouMean(suggest(seen, TYPES)) : undefined
  const allowed = `type must be one of ${TYPES.map((type) => `"${type}"`).join(', ')}`
  return near === undefined ? allowed : `${allowed}. ${near}`
}
