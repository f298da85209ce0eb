import * as z from 'zod'

const url = z
  .url('an https:// URL')
  .refine((text) => /^https:|^http:\/\/127\.0\.0\.1[:/]/.test(text), 'an https:// URL (http:// only of 127.0.0.1)')

const JwtSettingsSchema = z.strictObject({
  /** `iss` of the tokens, to the letter. */
  issuer: url,
  /** One of these is in their `aud`. */
  audience: z.union([z.string().min(1), z.array(z.string().min(1)).min(1).max(10)]),
  /** Where the issuer's keys are; absent = `<issuer>/.well-known/jwks.json`. */
  jwks_url: url.optional(),
  /** The claim that holds scopes, as a list or as text with spaces between. */
  scopes_claim: z.string().min(1).max(200).default('scope'),
  /** The claim that names the caller's tenant, as text; absent = everybody is of `main`. */
  /** The claim that names the person, as text: who comes with several subjects is one. Absent = `sub`. */
  person_claim: z.string().min(1).max(200).optional(),
  tenant_claim: z.string().min(1).max(200).optional(),
})
export type JwtSettings = z.infer<typeof JwtSettingsSchema>

/**
 * How callers prove who they are (docs/tokens.md). Absent = the place's own way: signed with AWS credentials there, no
 * login locally.
 */
export const AuthSettingsSchema = z.discriminatedUnion('mode', [
  z.strictObject({ mode: z.literal('token') }),
  z.strictObject({ mode: z.literal('jwt'), jwt: JwtSettingsSchema }),
])
export type AuthSettings = z.infer<typeof AuthSettingsSchema>
