import * as z from 'zod'
import { MAIN_TENANT } from './principal.ts'

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
