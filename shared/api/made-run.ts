import * as z from 'zod'

/** What every route that makes a run answers of it first. */
export const MADE_RUN = {
  run_id: z.string(),
  dag_name: z.string(),
  dag_hash: z.string(),
  blocks: z.int(),
  edges: z.int(),
} as const
