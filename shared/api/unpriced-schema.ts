import * as z from 'zod'

/** Beside `usd`, wherever that is told. */
export const UnpricedSchema = z
  .int()
  .min(1)
  .optional()
  .describe('Tokens whose price nobody knows: usd is without them; absent = every price is known')
