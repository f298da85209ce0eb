import * as z from 'zod'
import { MAIN_TENANT } from './principal.ts'

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

/** So many fit into the policies of a function's role, whose size AWS limits (test/integration/aws/tenants-stack.test.ts). */
export const MOST_TENANTS = 10

const NAME = 'a small letter, then small letters, digits and dashes, 32 at most'

/** The name of a tenant: part of keys, of folders and of IAM conditions. */
export const TenantSchema = z.string(NAME).regex(/^[a-z][a-z0-9-]{0,31}$/, NAME)

const LIST = `a list of 1 to ${MOST_TENANTS} names, such as [${MAIN_TENANT}, acme]`

/**
 * Whose runs, objects and graphs a place keeps apart (docs/tokens.md, "Tenants"). `main` is always there: everybody is of
 * it whom nothing puts elsewhere.
 */
export const TenantsSchema = z
  .array(TenantSchema, LIST)
  .min(1, LIST)
  .max(MOST_TENANTS, LIST)
  .refine((names) => new Set(names).size === names.length, 'each name once')
  .refine((names) => names.includes(MAIN_TENANT), `${MAIN_TENANT} among them: it is whose everything else is`)
  .default([MAIN_TENANT])
