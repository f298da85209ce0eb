import * as z from 'zod'

/** Parts of a question to people that several routes answer. */
export const VoteSchema = z.strictObject({
  by: z.string(),
  via: z.string(),
  at: z.string(),
  feedback: z.string().optional().describe('What they said with it; in GET run only'),
})

export const AskedGatesSchema = z
  .array(z.strictObject({ name: z.string(), reason: z.string() }))
  .readonly()
  .describe('Failed gates asked about, with their reasons')

export const RaiseSchema = z
  .strictObject({ tokens: z.int().min(0).optional(), usd: z.number().optional() })
  .describe('Caps the run has after a yes')
