import * as z from 'zod'
import { SCOPES } from '../auth/scopes.ts'
import { TenantSchema } from '../auth/settings.ts'
import { TokenSchema } from '../auth/token.ts'
import type { RouteSchema } from './route-schema.ts'

/** Routes about bearer tokens. */
export const TOKEN_ROUTES = {
  'list-tokens': {
    summary: 'The bearer tokens of the tenant, newest first; of no secret anything is kept but its hash',
    answer: z.strictObject({ tokens: z.array(TokenSchema) }),
  },
  'create-token': {
    summary: 'Make a bearer token; its text is answered this once',
    status: 201,
    body: z.strictObject({
      name: z
        .string()
        .regex(/^[^\p{C}\p{Z}](?:[^\p{C}]{0,98}[^\p{C}\p{Z}])?$/u, '1 to 100 characters, no space at its ends')
        .describe('What it is for'),
      scopes: z
        .array(z.enum(SCOPES))
        .min(1)
        .max(SCOPES.length)
        .refine((given) => new Set(given).size === given.length, 'each scope once')
        .describe('What it may do: none that its maker may not'),
      tenant: TenantSchema.optional().describe(
        "Its tenant; absent = its maker's, and only an operator may name another",
      ),
      person: z
        .string()
        .regex(/^user:[\x21-\x7e]{1,200}$/, 'a person: user:NAME')
        .optional()
        .describe("Whose it is; absent = its maker's, and only an operator may name somebody else"),
      client: z.literal('mcp').optional().describe('Made for an MCP client: what comes with it is recorded as via mcp'),
      expires_in_days: z.int().min(1).max(365).default(90),
    }),
    answer: TokenSchema.extend({ token: z.string().describe('Shown this once: slu_<id>_<secret>') }),
  },
  'revoke-token': {
    summary: 'Make a token invalid, within 60 seconds everywhere; again changes nothing',
    params: z.strictObject({
      token_id: z.string().regex(/^[0-9a-hjkmnp-tv-z]{16}$/, 'a token id is 16 characters of 0-9 a-z without i l o u'),
    }),
    answer: TokenSchema,
  },
} as const satisfies Record<string, RouteSchema>
