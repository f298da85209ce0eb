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

const changes = {
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
    .array(
      z.strictObject({
        key: z.string(),
        version: z.int().describe('0: the run began with it'),
        by: z.string().optional(),
        value: z.string().optional().describe('As JSON, its first 300 characters'),
        sha256: z.string().optional(),
        from: z.string().optional().describe('The run it came along from'),
      }),
    )
    .readonly()
    .optional()
    .describe('Keys it began with that its document does not ask for, and keys patched since'),
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
}

/** shared/approvals/run-changes.ts */
export const RunChangesSchema = z
  .strictObject({
    ...changes,
    above: z
      .array(z.strictObject({ run_id: z.string(), dag_name: z.string(), ...changes }))
      .readonly()
      .optional()
      .describe('Of a question of a child run: the same of each run above it, the nearest first'),
  })
  .describe('In what the run differs from a plain start of its deployed document')
