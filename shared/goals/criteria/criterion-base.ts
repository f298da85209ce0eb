import * as z from 'zod'

/** Members of every criterion; a kind adds its own. */
export const CRITERION_BASE = {
  id: z.string().regex(/\S/, 'it must not be blank').max(100),
  description: z.string().max(2_000).optional(),
} as const
