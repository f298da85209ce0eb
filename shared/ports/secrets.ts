import * as z from 'zod'

/** The whole ARN, since the right to read it is granted on exactly this one: a secret's ends in six characters. */
const SECRET_ARN =
  /^arn:aws[a-z-]*:(ssm:[a-z0-9-]+:\d{12}:parameter\/[\w./-]{1,1000}|secretsmanager:[a-z0-9-]+:\d{12}:secret:[\w/+=.@-]{1,512}-[A-Za-z0-9]{6})$/

/** Where a key is: never the key itself. Both may be given: `env` is read by the local place, `secret` on AWS. */
export const KeySchema = z
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
export type KeyRef = z.infer<typeof KeySchema>

/** An address of an operator's: no user, password or fragment in it. */
export const httpUrl = z
  .url({
    protocol: /^https?$/,
    error: ({ input }) => (input === undefined ? 'is missing: give an http or https URL' : 'an http or https URL'),
  })
  .max(2_000)
  .refine(
    (address) => !/^[a-z]+:\/\/[^/?#]*@/i.test(address),
    'a URL without user and password: write key: {env: NAME}',
  )
  .refine((address) => !address.includes('#'), 'a URL without #')

/** What is sent there leaves the machine encrypted, unless it stays on it. */
export const encryptedUrl = httpUrl.refine(
  (url) => /^(https:|http:\/\/(127\.0\.0\.1|localhost|\[::1\])(:\d+)?(\/|$|\?))/.test(url),
  'https, or http on 127.0.0.1, localhost or [::1]',
)

/**
 * Values that must not stand in settings or environment: read by adapters (a provider's key), never by handlers, so it
 * is a port beside the World. `secret` is an ARN of Systems Manager or Secrets Manager.
 */
export interface Secrets {
  read(ref: { readonly secret: string }): Promise<string>
}

/** What a signature is over: nothing of it may change on the way. */
export interface SignedContent {
  readonly id: string
  /** Unix time of this sending, in whole seconds. */
  readonly timestamp: number
  /** The body. */
  readonly text: string
}
