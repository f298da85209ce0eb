import * as z from 'zod'
import { SCOPES } from './scope.ts'

const text = z.string()

/** A token as it is shown: nothing of its secret. */
export const TokenSchema = z.strictObject({
  token_id: text,
  tenant: text,
  name: text,
  scopes: z.array(z.enum(SCOPES)),
  state: z.enum(['valid', 'expired', 'revoked']),
  created_at: text,
  created_by: text,
  person: text.optional().describe('Whose it is: all tokens of a person are one voter; absent: nobody can tell'),
  client: z.literal('mcp').optional().describe('Made for this kind of client'),
  expires_at: text,
  revoked_at: text.optional(),
  revoked_by: text.optional(),
})
export type ShownToken = z.infer<typeof TokenSchema>
