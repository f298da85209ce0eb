import * as z from 'zod'
import type { Json } from '../canonical.ts'
import { StoredValueSchema } from '../runs/event.ts'
import { BlockParamsSchema, GET_BLOCK } from './get-block.ts'
import { type RouteSchema, RunParamsSchema } from './route-schema.ts'

const text = z.string()
const count = z.int().min(0)
const json = z.custom<Json>(() => true)
const key = text.regex(/^[^_\s]\S{0,199}$/, '1 to 200 characters without spaces; a leading _ is reserved')

const context = z.strictObject({ version: count, values: z.record(text, json) })

const ArtifactSchema = z.strictObject({
  name: text,
  ref: text,
  sha256: text,
  bytes: count,
  media_type: text,
  block_id: text,
  attempt: count,
  from_run: text.optional().describe('The earlier run that wrote it, of a run that continues one'),
  href: text,
})

/** Routes of what a run holds besides its events: attempts, outputs, shared context and artifacts. */
export const RUN_DATA_ROUTES = {
  'get-block': GET_BLOCK,
  'get-outputs': {
    summary: 'Values of the outputs a block has published',
    params: BlockParamsSchema,
    answer: z.strictObject({
      run_id: text,
      block_id: text,
      attempt: count,
      state: text,
      outputs: z.record(text, json).describe('Value by port'),
      refs: z.record(text, StoredValueSchema).describe('Ports whose value is above 256 KiB: where it is stored'),
    }),
  },
  'get-context': {
    summary: 'The shared context of a run, with the version a change must name',
    params: RunParamsSchema,
    answer: context,
  },
  'patch-context': {
    summary: 'Set keys of the shared context, if it still has the version the caller read',
    params: RunParamsSchema,
    body: z.strictObject({
      set: z
        .record(key, json)
        .refine((set) => Object.keys(set).length > 0, 'at least one key')
        .refine((set) => Object.keys(set).length <= 20, 'at most 20 keys at once'),
      if_version: count,
    }),
    answer: context,
  },
  'list-artifacts': {
    summary: 'Artifacts the run has written',
    params: RunParamsSchema,
    answer: z.strictObject({ artifacts: z.array(ArtifactSchema) }),
  },
  'get-artifact': {
    summary: 'The body of one artifact',
    params: RunParamsSchema.extend({ name: text.min(1).max(200) }),
    answer: text,
    media_type: '*/*',
  },
} as const satisfies Record<string, RouteSchema>
