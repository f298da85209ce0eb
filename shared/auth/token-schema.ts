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
  created_by: text.describe('Who made it, as authenticated'),
  created_person: text.optional().describe('Who that is, where it is another name of theirs'),
  person: text.optional().describe('Whose it is: all tokens of a person are one voter; absent: nobody can tell'),
  client: z.literal('mcp').optional().describe('Made for this kind of client'),
  expires_at: text,
  revoked_at: text.optional(),
  revoked_by: text.optional().describe('Who made it invalid, as authenticated; the first of several'),
  revoked_person: text.optional().describe('Who that is, where it is another name of theirs'),
})
export type ShownToken = z.infer<typeof TokenSchema>
