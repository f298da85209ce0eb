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
  expires_at: text,
  revoked_at: text.optional(),
  revoked_by: text.optional(),
})
export type ShownToken = z.infer<typeof TokenSchema>
