import * as z from 'zod'
import { DeclaredSchema } from '../auth/declared-client.ts'
import { LIMITS } from '../limits.ts'
import { LabelsSchema } from '../runs/labels-schema.ts'
import { SubjectsSchema } from '../runs/subject.ts'
import type { Json } from '../text/json.ts'

const key = z.string().regex(/^[^_\s]\S{0,199}$/, '1 to 200 characters without spaces; a leading _ is reserved')
const json = z.custom<Json>(() => true)
const values = z.record(key, json)

/** What a run is given besides its document, in the bodies that start one. */
export const RUN_VALUES = {
  inputs: values.optional().describe('Values of the run inputs the document declares'),
  context: values.optional().describe('Free values; run inputs of the same name win'),
  overrides: z
    .record(z.string().regex(/^[A-Za-z][\w-]*\.[A-Za-z][\w-]*$/, 'block.port'), json)
    .optional()
    .describe('"block.port": the value of one input port, before anything else'),
  labels: LabelsSchema.optional().describe('What it is found by, over those of its document and of the place'),
  subject: SubjectsSchema.optional().describe(
    'Whose data it holds: what its runs are found and erased by; a digest is kept',
  ),
  options: z
    .strictObject({
      max_parallel: z.int().min(0).max(1_000).optional().describe('Blocks at once; 0 = no limit'),
      fail_fast: z.boolean().optional(),
      deadline_sec: z.int().min(1).max(31_536_000).optional(),
    })
    .optional(),
} as const

export const PrioritySchema = z
  .int()
  .min(-LIMITS.priority_sec)
  .max(LIMITS.priority_sec)
  .optional()
  .describe('Seconds by which the run stands in queues as if it had been started earlier; below 0: later')

/** A document in a body. */
export const DocumentSchema = z
  .union([z.string().min(1), z.record(z.string(), json)], 'a YAML text or an object')
  .optional()
  .describe('The document itself: YAML text, or the same as an object')

/** What every route that makes a run answers of it first. */
export const MADE_RUN = {
  run_id: z.string(),
  dag_name: z.string(),
  dag_hash: z.string(),
  blocks: z.int(),
  edges: z.int(),
} as const

/** Parts of a question to people that several routes answer. */
export const VoteSchema = z.strictObject({
  by: z.string(),
  person: z.string().optional().describe('Who they are, where `by` is another name of theirs'),
  via: z.string().describe('By what the place saw it come'),
  declared: DeclaredSchema.optional().describe('What the client said of itself'),
  at: z.string(),
  feedback: z.string().optional().describe('What they said with it; in GET run only'),
})

/** Of a question about a call of an agent. */
export const CALL_QUESTION = {
  tool: z.string().optional().describe('Of a call of an agent: the tool, as its document names it'),
  edit_types: z
    .record(z.string(), z.string())
    .optional()
    .describe('Of a call of an agent: the types of what may be changed'),
  allow_rest: z.literal(true).optional().describe('Who says yes may say it for every later call of the tool'),
} as const

export const AskedGatesSchema = z
  .array(z.strictObject({ name: z.string(), reason: z.string() }))
  .readonly()
  .describe('Failed gates asked about, with their reasons')

export const RaiseSchema = z
  .strictObject({ tokens: z.int().min(0).optional(), usd: z.number().optional() })
  .describe('Caps the run has after a yes')

const blockIds = z.array(z.string()).readonly()

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
      added: blockIds,
      removed: blockIds,
      changed: blockIds.describe('Blocks whose definition is another one'),
      other: z.boolean().describe('Something outside of its blocks differs'),
    })
    .optional(),
}

/** shared/approvals/run-change-lines.ts */
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

/** Beside `usd`, wherever that is told. */
export const UnpricedSchema = z
  .int()
  .min(1)
  .optional()
  .describe('Tokens whose price nobody knows: usd is without them; absent = every price is known')
