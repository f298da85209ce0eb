import * as z from 'zod'
import { DeclaredSchema } from '../principal.ts'

/** Parts of a question to people that several routes answer. */
export const VoteSchema = z.strictObject({
  by: z.string(),
  person: z.string().optional().describe('Who they are, where `by` is another name of theirs'),
  via: z.string().describe('By what the place saw it come'),
  declared: DeclaredSchema.optional().describe('What the client said of itself'),
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

const names = z.array(z.string()).readonly()

/** shared/approvals/run-changes.ts */
export const RunChangesSchema = z
  .strictObject({
    overrides: z
      .array(
        z.strictObject({
          port: z.string(),
          value: z.string().describe('As JSON, its first 300 characters'),
          sha256: z.string(),
        }),
      )
      .readonly()
      .optional(),
    context: z
      .array(z.strictObject({ key: z.string(), version: z.int(), by: z.string().optional() }))
      .readonly()
      .optional()
      .describe('Keys that were patched since the run began'),
    document: z
      .strictObject({
        of: z.string().describe('`deployed`, or the run whose document it was'),
        dag_hash: z.string().describe('Of that one'),
        added: names,
        removed: names,
        changed: names.describe('Blocks whose definition is another one'),
        other: z.boolean().describe('Something outside of its blocks differs'),
      })
      .optional(),
  })
  .describe('In what the run differs from a plain start of its deployed document')
