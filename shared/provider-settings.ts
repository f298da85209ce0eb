import * as z from 'zod'
import { didYouMean, suggest } from './dag/suggest.ts'

const TYPES = ['local', 'ollama', 'openai-compatible', 'http'] as const

/** The whole ARN, since the right to read it is granted on exactly this one: a secret's ends in six characters. */
const SECRET_ARN =
  /^arn:aws[a-z-]*:(ssm:[a-z0-9-]+:\d{12}:parameter\/[\w./-]{1,1000}|secretsmanager:[a-z0-9-]+:\d{12}:secret:[\w/+=.@-]{1,512}-[A-Za-z0-9]{6})$/

/** Where a key is: never the key itself. Both may be given: `env` is read by the local place, `secret` on AWS. */
const KeySchema = z
  .strictObject({
    env: z
      .string()
      .regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, 'the name of an environment variable')
      .optional(),
    secret: z
      .string()
      .regex(SECRET_ARN, 'the whole ARN of a Secrets Manager secret or a Systems Manager parameter')
      .optional(),
  })
  .refine(({ env, secret }) => env !== undefined || secret !== undefined, 'give env: NAME, or secret: ARN, or both')
export type ProviderKey = z.infer<typeof KeySchema>

/** An allow-list: a block or agent that asks for another model is refused. Absent = any. */
const models = z.array(z.string().min(1).max(200)).min(1).max(200).optional()

const remote = {
  url: z
    .url({
      protocol: /^https?$/,
      error: ({ input }) => (input === undefined ? 'is missing: give an http or https URL' : 'an http or https URL'),
    })
    .max(2_000)
    .refine((url) => !/^[a-z]+:\/\/[^/?#]*@/i.test(url), 'a URL without user and password: write key: {env: NAME}')
    .refine((url) => !url.includes('#'), 'a URL without #'),
  key: KeySchema.optional(),
  /** Of one dispatch in all; the block's own timeout_ms holds too. */
  timeout_ms: z.int().min(1).max(840_000).optional(),
  models,
}

/** One entry of `providers` in sluice.yaml. */
export const ProviderSettingsSchema = z.discriminatedUnion(
  'type',
  [
    z.strictObject({ type: z.literal('local'), models }),
    z.strictObject({ type: z.literal('ollama'), ...remote }),
    z.strictObject({ type: z.literal('openai-compatible'), ...remote }),
    z.strictObject({ type: z.literal('http'), ...remote }),
  ],
  { error: ({ input }) => typeWords((input as { readonly type?: unknown } | null | undefined)?.type) },
)
export type ProviderSettings = z.infer<typeof ProviderSettingsSchema>
/** Of the types that are reached over HTTP. */
export type RemoteSettings = Extract<ProviderSettings, { readonly url: string }>

function typeWords(seen: unknown): string {
  const near = typeof seen === 'string' ? didYouMean(suggest(seen, TYPES)) : undefined
  const allowed = `type must be one of ${TYPES.map((type) => `"${type}"`).join(', ')}`
  return near === undefined ? allowed : `${allowed}. ${near}`
}
