import * as z from 'zod'
import type { Json } from '../canonical.ts'

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
  options: z
    .strictObject({
      max_parallel: z.int().min(0).max(1_000).optional().describe('Blocks at once; 0 = no limit'),
      fail_fast: z.boolean().optional(),
      deadline_sec: z.int().min(1).max(31_536_000).optional(),
    })
    .optional(),
} as const

/** A document in a body. */
export const DocumentSchema = z
  .union([z.string().min(1), z.record(z.string(), json)], 'a YAML text or an object')
  .optional()
  .describe('The document itself: YAML text, or the same as an object')
